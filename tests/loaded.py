"""Loads what every job of the tests needs: libraries that are imported on first use, and compiled kernels."""

from __future__ import annotations

from everlog import KnowledgeBase

KnowledgeBase("q(?x) :- p(?x) . p(a) .").materialise()
