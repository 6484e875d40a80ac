"""Profiles: the time of reasoning by stratum, by rule and by round.

A watched engine (``watched_engine``) reports to a recorder (``recorder``) what it does. The result is a profile
(``profile``), shown as text (``tables``), as data or as a page with plots (``report``). An engine that is not watched
does no work for profiles.
"""
