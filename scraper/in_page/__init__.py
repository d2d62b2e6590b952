"""What runs inside a page: modules of JavaScript, how they become one script, and how they are called."""
