#!/bin/sh
# A stranger's bot as a program, in a sandbox: exec:examples/sandbox.sh BOT.py
# It has no network, sees no process but its own, and no file but Python's and those of its folder, which it cannot
# change. It needs Linux and bubblewrap (apt-get install bubblewrap), and Salvo in the python3 of this PATH.
set -eu
bot=$(realpath "$1")
set -- --unshare-all --die-with-parent --new-session --clearenv --setenv PATH /usr/bin:/bin \
    --ro-bind /usr /usr --proc /proc --dev /dev --tmpfs /tmp
for folder in /lib /lib64 /bin; do
    set -- "$@" --ro-bind-try "$folder" "$folder"
done
# Python, what is installed for it, and Salvo itself.
folders=$(python3 -c 'import sys; print(*{sys.prefix, sys.base_prefix, *sys.path[1:]}, sep="\n")')
while read -r folder; do
    set -- "$@" --ro-bind-try "$folder" "$folder"
done <<END
$folders
END
exec bwrap "$@" --ro-bind "$(dirname "$bot")" /bot --chdir /bot \
    "$(python3 -c 'import sys; print(sys.executable)')" -m salvo_lab.programs "/bot/$(basename "$bot")"
