"""Where the time of reasoning goes: by stratum, by rule and by round.

An engine that is watched (``watching``) tells a recorder (``recorder``) what it does; what that has found is a
profile (``profile``), which is read as text (``tables``), as data or as a page with plots (``report``). An engine that
is not watched knows nothing of this.
"""
