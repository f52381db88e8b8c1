// Protected names of clients: remote access, clouds, containers, databases, mail, browsers.
import { readEntries } from './entry.js'

export const CLIENT_NAMES = readEntries(`
anywhere .ssh: ssh takes keys and commands from it <https://man.openbsd.org/ssh_config>
anywhere .rhosts .shosts .k5login .k5users:
  it lets others log in <https://web.mit.edu/kerberos/krb5-latest/doc/user/user_config/k5login.html>
project .gnupg/gpg.conf .gnupg/gpg-agent.conf .gnupg/dirmngr.conf .gnupg/scdaemon.conf:
  gpg and its agent run the programs that it names
  <https://www.gnupg.org/documentation/manuals/gnupg/Agent-Options.html>
project .curlrc .config/curlrc .wgetrc:
  curl or wget takes options from it, such as where to write and what to run <https://curl.se/docs/manpage.html#-K>
project .netrc:
  ftp runs the macros that it defines <https://www.gnu.org/software/inetutils/manual/html_node/The-_002enetrc-file.html>
project .lessfilter .lesskey .less .config/lesskey:
  less runs the programs that it names for every file <https://man7.org/linux/man-pages/man1/lesskey.1.html>
project .mailcap: programs are started for files of a type by it <https://www.rfc-editor.org/rfc/rfc1524>

# mail and browsers
project .forward .procmailrc .maildroprc .fetchmailrc .getmail:
  mail that arrives is given to the programs that it names <https://www.postfix.org/local.8.html>
project .muttrc .mutt .config/mutt .config/neomutt .mailrc .config/aerc:
  the mail client runs the programs that it names <https://neomutt.org/guide/configuration>
project .mozilla/native-messaging-hosts .config/google-chrome/NativeMessagingHosts .config/chromium/NativeMessagingHosts
  .config/BraveSoftware/Brave-Browser/NativeMessagingHosts .config/microsoft-edge/NativeMessagingHosts:
  the browser starts the programs that it names
  <https://developer.mozilla.org/docs/Mozilla/Add-ons/WebExtensions/Native_manifests>

# clouds, clusters, containers
anywhere .kube/config .kube/kuberc:
  kubectl runs the programs that it names, with credentials
  <https://kubernetes.io/docs/reference/access-authn-authz/authentication/#client-go-credential-plugins>
anywhere .aws/config .aws/credentials .aws/cli/alias .aws/models:
  aws runs the programs that it names, with credentials
  <https://docs.aws.amazon.com/cli/latest/userguide/cli-configure-sourcing-external.html>
project .azure/cliextensions .boto .s3cfg .config/rclone/rclone.conf:
  a client of a cloud loads or runs what it names, with credentials
  <https://learn.microsoft.com/cli/azure/azure-cli-extensions-overview>
project .terraformrc .tofurc .terraform.d/plugins .vault:
  terraform or vault runs the helpers and plugins that it names
  <https://developer.hashicorp.com/terraform/cli/config/config-file>
project .docker/config.json .docker/cli-plugins .config/containers/containers.conf .config/containers/containers.conf.d
  .config/containers/storage.conf:
  docker or podman runs the helpers, plugins and runtimes that it names
  <https://docs.docker.com/reference/cli/docker/#docker-cli-configuration-file-configjson-properties>
project .config/containers/mounts.conf:
  podman mounts the folders that it names into every container
  <https://docs.podman.io/en/latest/markdown/podman.1.html#configuration-files>
project .vagrant.d/Vagrantfile .vagrant.d/plugins.json:
  vagrant loads it with every project <https://developer.hashicorp.com/vagrant/docs/vagrantfile>
project .config/gh .local/share/gh/extensions .config/glab-cli .local/share/helm/plugins:
  gh, glab or helm runs the aliases and extensions that it names <https://cli.github.com/manual/gh_alias_set>
project ansible.cfg .ansible.cfg .ansible/plugins:
  ansible loads the plugins that it names <https://docs.ansible.com/ansible/latest/reference_appendices/config.html>

# databases
project .my.cnf .odbc.ini:
  the client of a database loads or runs what it names <https://dev.mysql.com/doc/refman/8.4/en/option-files.html>
`)
