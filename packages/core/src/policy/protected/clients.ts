// Protected names of clients: remote access, clouds, containers, databases, mail, browsers.
import { anywhere, inProject } from './entry.js'
import type { ProtectedName } from './entry.js'

const BROWSERS = ['google-chrome', 'chromium', 'BraveSoftware/Brave-Browser', 'microsoft-edge']

export const CLIENT_NAMES: readonly ProtectedName[] = [
  ...anywhere('ssh takes keys and commands from it', 'https://man.openbsd.org/ssh_config', '.ssh'),
  ...anywhere(
    'it lets others log in',
    'https://web.mit.edu/kerberos/krb5-latest/doc/user/user_config/k5login.html',
    '.rhosts .shosts .k5login .k5users',
  ),
  ...inProject(
    'gpg and its agent run the programs that it names',
    'https://www.gnupg.org/documentation/manuals/gnupg/Agent-Options.html',
    '.gnupg/gpg.conf .gnupg/gpg-agent.conf .gnupg/dirmngr.conf .gnupg/scdaemon.conf',
  ),
  ...inProject(
    'curl or wget takes options from it, such as where to write and what to run',
    'https://curl.se/docs/manpage.html#-K',
    '.curlrc .config/curlrc .wgetrc',
  ),
  ...inProject(
    'ftp runs the macros that it defines',
    'https://www.gnu.org/software/inetutils/manual/html_node/The-_002enetrc-file.html',
    '.netrc',
  ),
  ...inProject(
    'less runs the programs that it names for every file',
    'https://man7.org/linux/man-pages/man1/lesskey.1.html',
    '.lessfilter .lesskey .less .config/lesskey',
  ),
  ...inProject('programs are started for files of a type by it', 'https://www.rfc-editor.org/rfc/rfc1524', '.mailcap'),

  // mail and browsers
  ...inProject(
    'mail that arrives is given to the programs that it names',
    'https://www.postfix.org/local.8.html',
    '.forward .procmailrc .maildroprc .fetchmailrc .getmail',
  ),
  ...inProject(
    'the mail client runs the programs that it names',
    'https://neomutt.org/guide/configuration',
    '.muttrc .mutt .config/mutt .config/neomutt .mailrc .config/aerc',
  ),
  ...inProject(
    'the browser starts the programs that it names',
    'https://developer.mozilla.org/docs/Mozilla/Add-ons/WebExtensions/Native_manifests',
    '.mozilla/native-messaging-hosts',
    ...BROWSERS.map((name) => `.config/${name}/NativeMessagingHosts`),
  ),

  // clouds, clusters, containers
  ...anywhere(
    'kubectl runs the programs that it names, with credentials',
    'https://kubernetes.io/docs/reference/access-authn-authz/authentication/#client-go-credential-plugins',
    '.kube/config .kube/kuberc',
  ),
  ...anywhere(
    'aws runs the programs that it names, with credentials',
    'https://docs.aws.amazon.com/cli/latest/userguide/cli-configure-sourcing-external.html',
    '.aws/config .aws/credentials .aws/cli/alias .aws/models',
  ),
  ...inProject(
    'a client of a cloud loads or runs what it names, with credentials',
    'https://learn.microsoft.com/cli/azure/azure-cli-extensions-overview',
    '.azure/cliextensions .boto .s3cfg .config/rclone/rclone.conf',
  ),
  ...inProject(
    'terraform or vault runs the helpers and plugins that it names',
    'https://developer.hashicorp.com/terraform/cli/config/config-file',
    '.terraformrc .tofurc .terraform.d/plugins .vault',
  ),
  ...inProject(
    'docker or podman runs the helpers, plugins and runtimes that it names',
    'https://docs.docker.com/reference/cli/docker/#docker-cli-configuration-file-configjson-properties',
    '.docker/config.json .docker/cli-plugins .config/containers/containers.conf',
    '.config/containers/containers.conf.d .config/containers/storage.conf',
  ),
  ...inProject(
    'podman mounts the folders that it names into every container',
    'https://docs.podman.io/en/latest/markdown/podman.1.html#configuration-files',
    '.config/containers/mounts.conf',
  ),
  ...inProject(
    'vagrant loads it with every project',
    'https://developer.hashicorp.com/vagrant/docs/vagrantfile',
    '.vagrant.d/Vagrantfile .vagrant.d/plugins.json',
  ),
  ...inProject(
    'gh, glab or helm runs the aliases and extensions that it names',
    'https://cli.github.com/manual/gh_alias_set',
    '.config/gh .local/share/gh/extensions .config/glab-cli .local/share/helm/plugins',
  ),
  ...inProject(
    'ansible loads the plugins that it names',
    'https://docs.ansible.com/ansible/latest/reference_appendices/config.html',
    'ansible.cfg .ansible.cfg .ansible/plugins',
  ),

  // databases
  ...inProject(
    'the client of a database loads or runs what it names',
    'https://dev.mysql.com/doc/refman/8.4/en/option-files.html',
    '.my.cnf .odbc.ini',
  ),
]
