// Protected names of shells, logins, desktop sessions and terminals.
import { anywhere, inProject } from './entry.js'
import type { ProtectedName } from './entry.js'

const SYSTEMD = 'https://www.freedesktop.org/software/systemd/man/latest'
const XDG = 'https://specifications.freedesktop.org'

const WINDOW_MANAGERS =
  'i3 sway hypr niri river labwc openbox awesome bspwm sxhkd qtile xmonad leftwm waybar polybar'.split(' ')

export const SESSION_NAMES: readonly ProtectedName[] = [
  // shells
  ...anywhere(
    'bash or sh runs it',
    'https://www.gnu.org/software/bash/manual/html_node/Bash-Startup-Files.html',
    '.bashrc .bash_profile .bash_login .bash_logout .bash_aliases .bash_completion .bashrc.d .profile',
  ),
  ...anywhere(
    'zsh runs it',
    'https://zsh.sourceforge.io/Doc/Release/Files.html',
    '.zshrc .zshenv .zprofile .zlogin .zlogout .config/zsh',
  ),
  ...anywhere(
    'start-up files of shells load it',
    'https://github.com/ohmyzsh/ohmyzsh/wiki/Settings',
    '.oh-my-zsh .oh-my-bash .p10k.zsh .zinit .zplug .antigen .fzf.bash .fzf.zsh',
  ),
  ...anywhere('another shell runs it', 'https://man.openbsd.org/ksh', '.kshrc .mkshrc .cshrc .tcshrc .login .logout'),
  ...anywhere('fish runs it', 'https://fishshell.com/docs/current/language.html#configuration-files', '.config/fish'),
  ...anywhere('nushell runs it', 'https://www.nushell.sh/book/configuration.html', '.config/nushell'),
  ...anywhere(
    'PowerShell runs it',
    'https://learn.microsoft.com/powershell/module/microsoft.powershell.core/about/about_profiles',
    '.config/powershell',
  ),
  ...anywhere(
    'xonsh or elvish runs it',
    'https://xon.sh/xonshrc.html',
    '.xonshrc .config/xonsh .config/elvish .elvish',
  ),
  ...anywhere(
    'readline types what it binds to keys into every shell',
    'https://tiswww.case.edu/php/chet/readline/rluserman.html',
    '.inputrc',
  ),
  ...anywhere(
    'the prompt runs the commands of its custom modules',
    'https://starship.rs/config/#custom-commands',
    '.config/starship.toml',
  ),
  ...anywhere(
    'direnv and its kin run it on entering the folder',
    'https://direnv.net/man/direnv.1.html',
    '.envrc .autoenv.zsh .autoenv_leave.zsh .config/direnv',
  ),
  ...anywhere(
    'mise takes programs, variables, tasks and hooks from it',
    'https://mise.jdx.dev/configuration.html',
    '.mise.toml mise.toml .mise.local.toml mise.local.toml .mise .config/mise',
  ),
  ...inProject('rvm runs it on entering the folder', 'https://rvm.io/workflow/rvmrc', '.rvmrc'),
  ...inProject(
    'asdf finds a tool at the path that it names',
    'https://asdf-vm.com/manage/configuration.html',
    '.tool-versions .asdfrc',
  ),
  ...inProject('proto loads the plugins that it names', 'https://moonrepo.dev/docs/proto/config', '.prototools'),
  ...anywhere('its programs are found before those of the system', `${SYSTEMD}/file-hierarchy.html`, '.local/bin'),
  ...inProject(
    'shells have it in their PATH, or load it, once its installer was run',
    'https://github.com/pyenv/pyenv#b-set-up-your-shell-environment-for-pyenv',
    '.nvm .pyenv .rbenv .nodenv .goenv .jenv .asdf .sdkman .volta/bin .proto .cargo/bin .rustup/toolchains',
    '.bun/bin .deno/bin .dotnet/tools .ghcup .opam .juliaup .krew .linuxbrew .nix-profile',
  ),
  ...inProject(
    'interpreters load modules, and start-up files, of the user from it',
    'https://docs.python.org/3/library/site.html',
    '.local/lib',
  ),

  // logins and desktop sessions
  ...anywhere(
    'it sets variables of every login, such as LD_PRELOAD',
    `${SYSTEMD}/environment.d.html`,
    '.pam_environment .config/environment.d',
  ),
  ...anywhere(
    'systemd starts the units of the user',
    `${SYSTEMD}/systemd.unit.html`,
    '.config/systemd .local/share/systemd',
  ),
  ...anywhere(
    'D-Bus starts the programs that it names',
    'https://dbus.freedesktop.org/doc/dbus-specification.html#message-bus-starting-services',
    '.local/share/dbus-1',
  ),
  ...anywhere(
    'the desktop session runs it',
    `${XDG}/autostart-spec/latest/`,
    '.config/autostart .config/autostart-scripts .config/plasma-workspace .config/lxsession .kde/Autostart',
  ),
  ...anywhere(
    'the X session runs it',
    'https://www.x.org/releases/current/doc/man/man1/xinit.1.xhtml',
    '.xinitrc .xprofile .xsession .xsessionrc .xserverrc',
  ),
  ...anywhere(
    'the desktop starts the program that it names in place of the one of the system',
    `${XDG}/desktop-entry-spec/latest/`,
    '.local/share/applications',
  ),
  ...anywhere(
    'the window manager runs it, or the programs that it names',
    'https://i3wm.org/docs/userguide.html#_automatically_starting_applications_on_i3_startup',
    ...WINDOW_MANAGERS.map((name) => `.config/${name}`),
    '.i3 .xmonad .fvwm .xbindkeysrc .xscreensaver',
  ),
  ...anywhere(
    'extensions of the desktop are loaded from it',
    'https://gjs.guide/extensions/overview/anatomy.html',
    '.local/share/gnome-shell/extensions .local/share/nautilus-python .local/share/nautilus/scripts',
    '.local/share/plasma',
  ),
  ...anywhere(
    'the sound server, or every program with sound, loads or starts what it names',
    'https://docs.pipewire.org/page_man_pipewire_conf_5.html',
    '.config/pipewire .config/wireplumber .config/pulse/default.pa .config/pulse/daemon.conf',
    '.config/pulse/client.conf .asoundrc',
  ),
  ...anywhere(
    'programs with a window load the modules that it names',
    'https://docs.gtk.org/gtk3/class.Settings.html',
    '.config/gtk-3.0/settings.ini .gtkrc-2.0 .local/share/vulkan/implicit_layer.d .config/vulkan/implicit_layer.d',
  ),
  ...anywhere(
    'it gives programs of Flatpak rights, and its programs are in the PATH',
    'https://docs.flatpak.org/en/latest/flatpak-command-reference.html#flatpak-override',
    '.local/share/flatpak',
  ),

  // terminals
  ...anywhere('tmux runs it', 'https://man.openbsd.org/tmux', '.tmux.conf .tmux .config/tmux'),
  ...anywhere(
    'screen runs it',
    'https://www.gnu.org/software/screen/manual/screen.html#Startup-Files',
    '.screenrc .byobu',
  ),
  ...anywhere(
    'the terminal starts the shell and the programs that it names',
    'https://sw.kovidgoyal.net/kitty/conf/',
    '.config/kitty .config/alacritty .alacritty.toml .alacritty.yml .config/wezterm .wezterm.lua .config/ghostty',
    '.config/foot .config/zellij .config/terminator',
  ),
]
