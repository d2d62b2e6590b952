"""Start a browser, or install one."""
