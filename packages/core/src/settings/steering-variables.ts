// Variables that change what a program is: the code that the loader, a shell or Node runs in it, the programs that it
// starts, and the files and services from which Cordon takes its decisions and secrets. A project must not choose them.

const KINDS = [
  // The loader, and libraries that it loads.
  ...['LD_', 'DYLD_', 'GCONV_', 'GLIBC_', 'MALLOC_', 'OPENSSL_', 'SSL_'],
  ...['NODE_', 'BASH_FUNC_'],
  ...['CORDON_', 'XDG_', 'VAULT_', 'DBUS_'],
]

const NAMES: ReadonlySet<string> = new Set([
  ...['LOCPATH', 'PATH', 'HOME', 'DOCKER_HOST'],
  ...['SHELL', 'ENV', 'BASH_ENV', 'ZDOTDIR', 'SHELLOPTS', 'BASHOPTS', 'PS4', 'IFS'],
])

/** A mode for the program's own code. Many projects set it. */
const HARMLESS = 'NODE_ENV'

export const steersPrograms = (variable: string): boolean =>
  variable !== HARMLESS && (NAMES.has(variable) || KINDS.some((kind) => variable.startsWith(kind)))
