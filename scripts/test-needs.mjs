// Programs that the tests use and a fresh machine may lack, with the Debian packages that bring them.
export const TEST_NEEDS = [
  { command: 'cc', packages: ['gcc', 'libc6-dev'], because: 'the launcher and the attack programs are compiled' },
  ...(process.arch === 'x64'
    ? [
        {
          command: 'aarch64-linux-gnu-gcc',
          packages: ['gcc-aarch64-linux-gnu', 'libc6-dev-arm64-cross'],
          because: 'the aarch64 launcher is cross-compiled',
        },
      ]
    : [
        {
          command: 'x86_64-linux-gnu-gcc',
          packages: ['gcc-x86-64-linux-gnu', 'libc6-dev-amd64-cross'],
          because: 'the x86_64 launcher is cross-compiled',
        },
      ]),
  { command: 'clang', packages: ['clang', 'libclang-rt-dev'], because: 'the fuzz targets are built with libFuzzer' },
  {
    command: 'wasm-ld',
    packages: ['lld', 'wasi-libc', 'libclang-rt-dev-wasm32'],
    because: 'WASI programs are compiled',
  },
  { command: 'clang-format', packages: ['clang-format'], because: 'the layout of native/ is checked' },
  { command: 'python3', packages: ['python3'], because: 'some attacks are Python programs' },
  { command: 'git', packages: ['git'], because: 'some attacks are about git hooks' },
  { command: 'bwrap', packages: ['bubblewrap'], because: 'hosts that refuse something are imitated with it' },
  { command: 'firejail', packages: ['firejail'], because: 'cells are tried inside it' },
  {
    command: 'qemu-system-x86_64',
    packages: ['qemu-system-x86'],
    because: 'Debian kernels and cgroups are tried in virtual machines',
  },
  ...(process.arch === 'arm64'
    ? [
        {
          command: 'qemu-system-aarch64',
          packages: ['qemu-system-arm'],
          because: 'cgroups are tried in a virtual machine',
        },
      ]
    : []),
  { command: 'mke2fs', packages: ['e2fsprogs'], because: 'the disk of a virtual machine is made with it' },
  {
    command: 'podman',
    packages: ['podman', 'crun', 'uidmap', 'slirp4netns', 'fuse-overlayfs'],
    because: 'cells are tried inside a rootless container',
  },
  { command: 'apparmor_parser', packages: ['apparmor'], because: 'the profile of deploy/ is held against AppArmor' },
  { command: 'dbus-run-session', packages: ['dbus-daemon'], because: 'a keyring is tried on a bus of the tests' },
  { command: 'gnome-keyring-daemon', packages: ['gnome-keyring'], because: 'credentials are read from a real keyring' },
  { command: 'secret-tool', packages: ['libsecret-tools'], because: 'credentials are read from a real keyring' },
  {
    command: 'pg_ctlcluster',
    packages: ['postgresql'],
    because: 'the store is tried on a PostgreSQL server of the tests',
  },
  { command: 'faketime', packages: ['faketime', 'libfaketime'], because: 'hosts get clocks that are wrong' },
  { command: 'systemd-analyze', packages: ['systemd'], because: 'units of deploy/ are held against systemd itself' },
  { command: 'ip', packages: ['iproute2'], because: 'hosts get networks of their own' },
]
