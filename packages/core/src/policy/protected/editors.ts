// Protected names of editors and agents.
import { readEntries } from './entry.js'

export const EDITOR_NAMES = readEntries(`
project .vscode .idea .zed .fleet .vs .nova .theia .sublime-project:
  the editor runs its tasks and the programs that its settings name
  <https://code.visualstudio.com/docs/editor/workspace-trust>
project .config/Code/User .config/VSCodium/User .config/Cursor/User .vscode-server .vscode-oss .config/JetBrains
  .local/share/JetBrains .config/zed .config/sublime-text .config/micro .config/kak:
  the editor runs it, or loads extensions from it <https://code.visualstudio.com/docs/configure/settings>
project .devcontainer .devcontainer.json:
  it starts containers, and programs before them <https://containers.dev/implementors/json_reference/#lifecycle-scripts>
project .vimrc .gvimrc .exrc .nvimrc .nvim.lua .lvimrc .vim .config/vim .config/nvim .local/share/nvim:
  vim or neovim runs it <https://neovim.io/doc/user/options.html#'exrc'>
project .emacs .emacs.el .emacs.d .config/emacs .spacemacs .spacemacs.d .doom.d .config/doom .dir-locals.el
  .dir-locals-2.el:
  emacs evaluates it <https://www.gnu.org/software/emacs/manual/html_node/emacs/Directory-Variables.html>
project .helix .config/helix:
  helix starts the language servers and formatters that it names <https://docs.helix-editor.com/languages.html>
project .nanorc .config/nano:
  nano runs the checkers and formatters that it names <https://www.nano-editor.org/dist/latest/nanorc.5.html>
project .externalToolBuilders:
  eclipse runs the programs that it names with every build
  <https://help.eclipse.org/latest/topic/org.eclipse.platform.doc.user/gettingStarted/qs-96_non_ant_pjt_builders.htm>
project .ropeproject:
  the Python plugins of editors execute its config.py <https://rope.readthedocs.io/en/latest/configuration.html>
`)

const TAKES_HOOKS = 'an agent takes hooks, commands, servers or permissions from it'

export const AGENT_FILE_NAMES = readEntries(`
project .claude .claude.json: ${TAKES_HOOKS} <https://code.claude.com/docs/en/hooks>
project .codex: ${TAKES_HOOKS} <https://developers.openai.com/codex/config-reference>
project .cursor: ${TAKES_HOOKS} <https://cursor.com/docs/agent/hooks>
project .gemini: ${TAKES_HOOKS} <https://geminicli.com/docs/hooks/>
project .windsurf .codeium: ${TAKES_HOOKS} <https://docs.windsurf.com/windsurf/cascade/hooks>
project .github/hooks .copilot: ${TAKES_HOOKS} <https://docs.github.com/en/copilot/concepts/agents/hooks>
project .clinerules .cline: ${TAKES_HOOKS} <https://docs.cline.bot/customization/hooks>
project .roo .kilocode: ${TAKES_HOOKS} <https://docs.roocode.com/features/mcp/using-mcp-in-roo>
project .continue .continuerc.json: ${TAKES_HOOKS} <https://docs.continue.dev/reference>
project .kiro: ${TAKES_HOOKS} <https://kiro.dev/docs/hooks/>
project .amazonq .aws/amazonq:
  ${TAKES_HOOKS} <https://docs.aws.amazon.com/amazonq/latest/qdeveloper-ug/command-line-mcp-understanding-config.html>
project .junie: ${TAKES_HOOKS} <https://www.jetbrains.com/help/junie/model-context-protocol-mcp.html>
project .factory: ${TAKES_HOOKS} <https://docs.factory.ai/cli/configuration/hooks-guide>
project .augment: ${TAKES_HOOKS} <https://docs.augmentcode.com/cli/integrations>
project .qwen: ${TAKES_HOOKS} <https://qwenlm.github.io/qwen-code-docs/en/users/configuration/settings/>
project .openhands: ${TAKES_HOOKS} <https://docs.openhands.dev/openhands/usage/customization/repository>
project .config/goose .goose: ${TAKES_HOOKS} <https://block.github.io/goose/docs/guides/config-files>
project .amp .config/amp .agents: ${TAKES_HOOKS} <https://ampcode.com/manual>
project .opencode .config/opencode: ${TAKES_HOOKS} <https://opencode.ai/docs/config/>
project .crush .config/crush: ${TAKES_HOOKS} <https://github.com/charmbracelet/crush>
project .trae: ${TAKES_HOOKS} <https://docs.trae.ai/ide/model-context-protocol>
project .tabnine: ${TAKES_HOOKS} <https://docs.tabnine.com/main/getting-started/tabnine-agent>
project .mcp.json: an agent starts the servers that it lists <https://code.claude.com/docs/en/mcp>
root opencode.json opencode.jsonc crush.json .crush.json:
  an agent starts the servers, hooks and plugins that it lists <https://opencode.ai/docs/config/>
root .aider.conf.yml:
  aider runs the commands that it names after every change <https://aider.chat/docs/config/aider_conf.html>
`)
