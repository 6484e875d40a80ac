"""Knowledge bases: rules with facts in memory, what follows from them, and how they are opened, changed and saved."""
