"""Knowledge bases: rules with facts in memory and the facts that follow; they are opened, changed and saved."""
