"""RDF with an ontology: reading, materialising and queries, compared with reasonable, owlrl and pyoxigraph."""
