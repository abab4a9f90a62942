"""Run records and the views of them: JSON with a schema, and a summary for the terminal.

This room knows neither torch nor the suite: it reads and writes data alone.
"""
