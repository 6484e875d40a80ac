"""RDF with an ontology: reading, materialising and asking, beside reasonable, owlrl and pyoxigraph."""
