"""The algorithms of the papers: materialising, maintaining, and choosing between them."""
