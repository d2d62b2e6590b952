"""The JavaScript that runs inside a page, and the code that bundles and calls it."""
