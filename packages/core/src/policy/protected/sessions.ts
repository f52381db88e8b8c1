// Protected names of shells, logins, desktop sessions and terminals.
import { readEntries } from './entry.js'

export const SESSION_NAMES = readEntries(`
# shells
anywhere .bashrc .bash_profile .bash_login .bash_logout .bash_aliases .bash_completion .bashrc.d .profile:
  bash or sh runs it <https://www.gnu.org/software/bash/manual/html_node/Bash-Startup-Files.html>
anywhere .zshrc .zshenv .zprofile .zlogin .zlogout .config/zsh:
  zsh runs it <https://zsh.sourceforge.io/Doc/Release/Files.html>
anywhere .oh-my-zsh .oh-my-bash .p10k.zsh .zinit .zplug .antigen .fzf.bash .fzf.zsh:
  start-up files of shells load it <https://github.com/ohmyzsh/ohmyzsh/wiki/Settings>
anywhere .kshrc .mkshrc .cshrc .tcshrc .login .logout: another shell runs it <https://man.openbsd.org/ksh>
anywhere .config/fish: fish runs it <https://fishshell.com/docs/current/language.html#configuration-files>
anywhere .config/nushell: nushell runs it <https://www.nushell.sh/book/configuration.html>
anywhere .config/powershell:
  PowerShell runs it <https://learn.microsoft.com/powershell/module/microsoft.powershell.core/about/about_profiles>
anywhere .xonshrc .config/xonsh .config/elvish .elvish: xonsh or elvish runs it <https://xon.sh/xonshrc.html>
anywhere .inputrc:
  readline types what it binds to keys into every shell <https://tiswww.case.edu/php/chet/readline/rluserman.html>
anywhere .config/starship.toml:
  the prompt runs the commands of its custom modules <https://starship.rs/config/#custom-commands>
anywhere .envrc .autoenv.zsh .autoenv_leave.zsh .config/direnv:
  direnv and its kin run it on entering the folder <https://direnv.net/man/direnv.1.html>
anywhere .mise.toml mise.toml .mise.local.toml mise.local.toml .mise .config/mise:
  mise takes programs, variables, tasks and hooks from it <https://mise.jdx.dev/configuration.html>
project .rvmrc: rvm runs it on entering the folder <https://rvm.io/workflow/rvmrc>
project .tool-versions .asdfrc:
  asdf finds a tool at the path that it names <https://asdf-vm.com/manage/configuration.html>
project .prototools: proto loads the plugins that it names <https://moonrepo.dev/docs/proto/config>
anywhere .local/bin:
  its programs are found before those of the system
  <https://www.freedesktop.org/software/systemd/man/latest/file-hierarchy.html>
project .nvm .pyenv .rbenv .nodenv .goenv .jenv .asdf .sdkman .volta/bin .proto .cargo/bin .rustup/toolchains .bun/bin
  .deno/bin .dotnet/tools .ghcup .opam .juliaup .krew .linuxbrew .nix-profile:
  shells have it in their PATH, or load it, once its installer was run
  <https://github.com/pyenv/pyenv#b-set-up-your-shell-environment-for-pyenv>
project .local/lib:
  interpreters load modules, and start-up files, of the user from it <https://docs.python.org/3/library/site.html>

# logins and desktop sessions
anywhere .pam_environment .config/environment.d:
  it sets variables of every login, such as LD_PRELOAD
  <https://www.freedesktop.org/software/systemd/man/latest/environment.d.html>
anywhere .config/systemd .local/share/systemd:
  systemd starts the units of the user <https://www.freedesktop.org/software/systemd/man/latest/systemd.unit.html>
anywhere .local/share/dbus-1:
  D-Bus starts the programs that it names
  <https://dbus.freedesktop.org/doc/dbus-specification.html#message-bus-starting-services>
anywhere .config/autostart .config/autostart-scripts .config/plasma-workspace .config/lxsession .kde/Autostart:
  the desktop session runs it <https://specifications.freedesktop.org/autostart-spec/latest/>
anywhere .xinitrc .xprofile .xsession .xsessionrc .xserverrc:
  the X session runs it <https://www.x.org/releases/current/doc/man/man1/xinit.1.xhtml>
anywhere .local/share/applications:
  an entry here replaces the system's entry for a program, and the desktop runs its command
  <https://specifications.freedesktop.org/desktop-entry-spec/latest/>
anywhere .config/i3 .config/sway .config/hypr .config/niri .config/river .config/labwc .config/openbox .config/awesome
  .config/bspwm .config/sxhkd .config/qtile .config/xmonad .config/leftwm .config/waybar .config/polybar .i3 .xmonad
  .fvwm .xbindkeysrc .xscreensaver:
  the window manager runs it, or the programs that it names
  <https://i3wm.org/docs/userguide.html#_automatically_starting_applications_on_i3_startup>
anywhere .local/share/gnome-shell/extensions .local/share/nautilus-python .local/share/nautilus/scripts
  .local/share/plasma:
  extensions of the desktop are loaded from it <https://gjs.guide/extensions/overview/anatomy.html>
anywhere .config/pipewire .config/wireplumber .config/pulse/default.pa .config/pulse/daemon.conf
  .config/pulse/client.conf .asoundrc:
  the sound server, or every program with sound, loads or starts what it names
  <https://docs.pipewire.org/page_man_pipewire_conf_5.html>
anywhere .config/gtk-3.0/settings.ini .gtkrc-2.0 .local/share/vulkan/implicit_layer.d .config/vulkan/implicit_layer.d:
  programs with a window load the modules that it names <https://docs.gtk.org/gtk3/class.Settings.html>
anywhere .local/share/flatpak:
  it gives programs of Flatpak rights, and its programs are in the PATH
  <https://docs.flatpak.org/en/latest/flatpak-command-reference.html#flatpak-override>

# terminals
anywhere .tmux.conf .tmux .config/tmux: tmux runs it <https://man.openbsd.org/tmux>
anywhere .screenrc .byobu: screen runs it <https://www.gnu.org/software/screen/manual/screen.html#Startup-Files>
anywhere .config/kitty .config/alacritty .alacritty.toml .alacritty.yml .config/wezterm .wezterm.lua .config/ghostty
  .config/foot .config/zellij .config/terminator:
  the terminal starts the shell and the programs that it names <https://sw.kovidgoyal.net/kitty/conf/>
`)
