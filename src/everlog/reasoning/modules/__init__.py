"""Modules: groups of rules that are evaluated by special algorithms, which derive and represent their facts."""
