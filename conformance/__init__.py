"""The requirements, the rules, the eager oracle, the implementations under test, the pytest entry."""
