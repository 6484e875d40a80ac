"""Profiles: the time of reasoning by stratum, by rule and by round.

A recorder (``recorder``) observes the passes of an engine over rules. The result is a profile (``profile``), shown as
text (``tables``), as data or as a page with plots (``report``). An engine without a recorder does no work for profiles.
"""
