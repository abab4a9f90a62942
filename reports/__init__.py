"""Run records and the views of them: JSON with a schema, a summary for the terminal, the gate, an HTML page.

This room knows neither torch nor the suite: it reads and writes data alone.
"""
