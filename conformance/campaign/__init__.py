"""Campaigns: programs drawn and judged for hours, what fails grouped by signature, shrunk, and written as drafts."""
