"""The organiser's page: who is here, how long it will take, and every command of a host with what it will do.

evening       what is known of all tables, and what is shown of it
commands      what each command would do now
needs         what needs the host, and since when
line          the connection to the broker, on a thread of its own
page          the page: static/control.js draws it
"""
