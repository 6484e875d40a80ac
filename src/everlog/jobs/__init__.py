"""Jobs that change a store or follow it: one file each."""
