import type { PresetName } from '../model.js'

/** A named part of a policy. Paths of a preset that the host does not have are omitted, without an error. */
export interface Preset {
  readonly because: string
  readonly read: readonly string[]
  readonly write: readonly string[]
}

const LOADER_AND_LIBRARIES = '/usr /bin /sbin /lib /lib32 /lib64 /libx32 /nix/store /run/current-system/sw'.split(' ')

// Settings of the system that ordinary programs need. None of them names a secret: no shadow, ssh, ssl/private or
// machine-id.
const SYSTEM_SETTINGS = [
  'ld.so.cache ld.so.conf ld.so.conf.d ld-musl-*.path alternatives',
  'passwd group nsswitch.conf host.conf gai.conf hosts resolv.conf protocols services',
  'localtime timezone locale.alias locale.conf default/locale os-release lsb-release debian_version alpine-release',
  'ssl/certs ssl/cert.pem ssl/openssl.cnf pki/tls/certs pki/ca-trust/extracted ca-certificates ca-certificates.conf',
  'crypto-policies bash.bashrc bashrc profile profile.d inputrc terminfo magic mime.types fonts perl java*',
  'gitattributes',
]
  .flatMap((names) => names.split(' '))
  .map((name) => `/etc/${name}`)

// Where version managers put programs. Only folders of programs: `~/.cargo`, for example, also has the credentials of
// the registry.
const TOOLCHAINS = [
  '.nvm/versions .nvm/alias .volta/bin .volta/tools .local/share/fnm .bun/bin .deno/bin',
  '.pyenv .local/share/uv/python .local/share/uv/tools .rye/py .local/share/virtualenv miniconda3 anaconda3',
  '.asdf .local/share/mise/installs .local/share/mise/shims .local/share/rtx/installs',
  '.cargo/bin .rustup go/bin .local/go .sdkman/candidates .rbenv .rvm/rubies .ghcup/bin .nix-profile',
]
  .flatMap((names) => names.split(' '))
  .map((name) => `~/${name}`)
  .concat('/opt/homebrew', '/home/linuxbrew/.linuxbrew', '/opt/hostedtoolcache', '/snap')

export const PRESETS: Readonly<Record<PresetName, Preset>> = {
  system: {
    because: 'every program needs the libraries, programs and settings of the system',
    read: [...LOADER_AND_LIBRARIES, ...SYSTEM_SETTINGS],
    write: [],
  },
  toolchains: {
    because: 'programs installed by a version manager live in the home folder',
    read: TOOLCHAINS,
    write: [],
  },
  workspace: { because: 'the tool works on the project as a whole', read: [], write: ['.'] },
}
