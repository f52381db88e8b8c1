import type { CommandHelp } from '../../line/help.js'

export const COMPLETION_HELP: CommandHelp = {
  usage: 'cordon completion bash|zsh|fish',
  summary: 'print a script that completes commands and options in a shell',
  description: [
    'Prints a script for the shell, with the commands of the core and of the installed packages. Run it when a shell',
    'starts, and print it again after you installed a package:',
    '',
    '  bash   source <(cordon completion bash)        in ~/.bashrc',
    '  zsh    source <(cordon completion zsh)         in ~/.zshrc, after compinit',
    '  fish   cordon completion fish | source         in ~/.config/fish/config.fish',
  ],
  groups: [],
  notes: ['Exit status: 0 printed; 2 no such shell.'],
}
