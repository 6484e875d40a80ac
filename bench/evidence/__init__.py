"""All of it in one report: the papers' tables beside ours, the peers, and where we lose."""
