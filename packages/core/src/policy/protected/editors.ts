// Protected names of editors and agents.
import { inProject, inRoot } from './entry.js'
import type { ProtectedName } from './entry.js'

export const EDITOR_NAMES: readonly ProtectedName[] = [
  ...inProject(
    'the editor runs its tasks and the programs that its settings name',
    'https://code.visualstudio.com/docs/editor/workspace-trust',
    '.vscode .idea .zed .fleet .vs .nova .theia .sublime-project',
  ),
  ...inProject(
    'the editor runs it, or loads extensions from it',
    'https://code.visualstudio.com/docs/configure/settings',
    '.config/Code/User .config/VSCodium/User .config/Cursor/User .vscode-server .vscode-oss .config/JetBrains',
    '.local/share/JetBrains .config/zed .config/sublime-text .config/micro .config/kak',
  ),
  ...inProject(
    'it starts containers, and programs before them',
    'https://containers.dev/implementors/json_reference/#lifecycle-scripts',
    '.devcontainer .devcontainer.json',
  ),
  ...inProject(
    'vim or neovim runs it',
    "https://neovim.io/doc/user/options.html#'exrc'",
    '.vimrc .gvimrc .exrc .nvimrc .nvim.lua .lvimrc .vim .config/vim .config/nvim .local/share/nvim',
  ),
  ...inProject(
    'emacs evaluates it',
    'https://www.gnu.org/software/emacs/manual/html_node/emacs/Directory-Variables.html',
    '.emacs .emacs.el .emacs.d .config/emacs .spacemacs .spacemacs.d .doom.d .config/doom .dir-locals.el',
    '.dir-locals-2.el',
  ),
  ...inProject(
    'helix starts the language servers and formatters that it names',
    'https://docs.helix-editor.com/languages.html',
    '.helix .config/helix',
  ),
  ...inProject(
    'nano runs the checkers and formatters that it names',
    'https://www.nano-editor.org/dist/latest/nanorc.5.html',
    '.nanorc .config/nano',
  ),
  ...inProject(
    'eclipse runs the programs that it names with every build',
    'https://help.eclipse.org/latest/topic/org.eclipse.platform.doc.user/gettingStarted/qs-96_non_ant_pjt_builders.htm',
    '.externalToolBuilders',
  ),
  ...inProject(
    'the Python plugins of editors execute its config.py',
    'https://rope.readthedocs.io/en/latest/configuration.html',
    '.ropeproject',
  ),
]

const agents = (source: string, ...names: readonly string[]): readonly ProtectedName[] =>
  inProject('an agent takes hooks, commands, servers or permissions from it', source, ...names)

export const AGENT_NAMES: readonly ProtectedName[] = [
  ...agents('https://code.claude.com/docs/en/hooks', '.claude .claude.json'),
  ...agents('https://developers.openai.com/codex/config-reference', '.codex'),
  ...agents('https://cursor.com/docs/agent/hooks', '.cursor'),
  ...agents('https://geminicli.com/docs/hooks/', '.gemini'),
  ...agents('https://docs.windsurf.com/windsurf/cascade/hooks', '.windsurf .codeium'),
  ...agents('https://docs.github.com/en/copilot/concepts/agents/hooks', '.github/hooks .copilot'),
  ...agents('https://docs.cline.bot/customization/hooks', '.clinerules .cline'),
  ...agents('https://docs.roocode.com/features/mcp/using-mcp-in-roo', '.roo .kilocode'),
  ...agents('https://docs.continue.dev/reference', '.continue .continuerc.json'),
  ...agents('https://kiro.dev/docs/hooks/', '.kiro'),
  ...agents(
    'https://docs.aws.amazon.com/amazonq/latest/qdeveloper-ug/command-line-mcp-understanding-config.html',
    '.amazonq .aws/amazonq',
  ),
  ...agents('https://www.jetbrains.com/help/junie/model-context-protocol-mcp.html', '.junie'),
  ...agents('https://docs.factory.ai/cli/configuration/hooks-guide', '.factory'),
  ...agents('https://docs.augmentcode.com/cli/integrations', '.augment'),
  ...agents('https://qwenlm.github.io/qwen-code-docs/en/users/configuration/settings/', '.qwen'),
  ...agents('https://docs.openhands.dev/openhands/usage/customization/repository', '.openhands'),
  ...agents('https://block.github.io/goose/docs/guides/config-files', '.config/goose .goose'),
  ...agents('https://ampcode.com/manual', '.amp .config/amp .agents'),
  ...agents('https://opencode.ai/docs/config/', '.opencode .config/opencode'),
  ...agents('https://github.com/charmbracelet/crush', '.crush .config/crush'),
  ...agents('https://docs.trae.ai/ide/model-context-protocol', '.trae'),
  ...agents('https://docs.tabnine.com/main/getting-started/tabnine-agent', '.tabnine'),
  ...inProject('an agent starts the servers that it lists', 'https://code.claude.com/docs/en/mcp', '.mcp.json'),
  ...inRoot(
    'an agent starts the servers, hooks and plugins that it lists',
    'https://opencode.ai/docs/config/',
    'opencode.json opencode.jsonc crush.json .crush.json',
  ),
  ...inRoot(
    'aider runs the commands that it names after every change',
    'https://aider.chat/docs/config/aider_conf.html',
    '.aider.conf.yml',
  ),
]
