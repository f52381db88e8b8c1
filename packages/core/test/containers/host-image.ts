// An image with programs of this host at their own paths, so that what runs in a cell of the host runs in it too.
import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, lstatSync, mkdirSync, readdirSync, readlinkSync, realpathSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'

import { PYTHON } from '../attacks/programs.js'

import type { TestEngine } from './engine.js'

const FOLDERS = ['tmp', 'var/tmp', 'proc', 'sys', 'dev', 'run', 'root', 'home']
const LINKS = ['/bin', '/sbin', '/lib', '/lib32', '/lib64']
const SETTINGS = ['passwd', 'group', 'nsswitch.conf', 'ld.so.cache'].map((name) => `/etc/${name}`)

const PROGRAMS = [
  ...['sh', 'bash', 'cat', 'chmod', 'cp', 'dd', 'echo', 'env', 'find', 'grep', 'head', 'id', 'install', 'ln', 'ls'],
  ...['mkdir', 'mkfifo', 'mv', 'printf', 'pwd', 'rm', 'rmdir', 'script', 'seq', 'setsid', 'sha256sum', 'sleep', 'sort'],
  ...['stat', 'strace', 'tail', 'tee', 'touch', 'tr', 'true', 'tty', 'uname', 'wc', 'as', 'cc', 'ld', 'gdb', 'git'],
  ...['node', 'npm'],
]
/** What the compiler puts into a program. */
const LINKED = ['crt1.o', 'Scrt1.o', 'crti.o', 'crtn.o', 'libc.so', 'libc.so.6', 'libc_nonshared.a', 'libgcc_s.so.1']
/** Other languages, and tests of the languages themselves. */
const LEFT_OUT = ['cc1plus', 'lto1', 'lib*san.a', '__pycache__', 'test', 'idlelib', 'lib2to3', 'tkinter']

/** Imports the image, and returns its digest. */
export const hostImage = ({ folder, image }: TestEngine): string => {
  const root = join(folder, 'host-root')
  for (const name of FOLDERS) mkdirSync(join(root, name), { recursive: true })
  const paths = [
    ...LINKS,
    ...SETTINGS,
    process.execPath,
    ...PROGRAMS.flatMap(programFiles),
    ...pythonFiles(),
    ...compilerFiles(),
  ]
  const files = join(folder, 'host-files.tar')
  execFileSync('tar', [
    ...['-C', '/', '-cf', files, ...LEFT_OUT.map((pattern) => `--exclude=${pattern}`)],
    ...[...new Set([...paths, ...otherTrees()])].filter(existsSync).map((path) => `.${path}`),
  ])
  execFileSync('tar', ['-C', root, '-xf', files])
  // Everything of an image can be read, also by a user who is not root.
  writeFileSync(join(root, 'etc/shadow'), 'root:*:\n')
  return image(root)
}

/** A program, the links that lead to it, and its libraries. */
const programFiles = (name: string): readonly string[] => {
  const path = ['/usr/bin', '/usr/local/bin', '/bin'].map((folder) => join(folder, name)).find(existsSync)
  return path === undefined ? [] : [...linksFrom(path), ...librariesOf(path)]
}

const linksFrom = (path: string): readonly string[] =>
  lstatSync(path).isSymbolicLink() ? [path, ...linksFrom(resolve(dirname(path), readlinkSync(path)))] : [path]

const librariesOf = (file: string): readonly string[] =>
  [...spawnSync('ldd', [realpathSync(file)], { encoding: 'utf8' }).stdout.matchAll(/(\/\S+) \(0x/g)].flatMap(
    ([, library = '']) => linksFrom(realpathSync(dirname(library)) + library.slice(library.lastIndexOf('/'))),
  )

const pythonFiles = (): readonly string[] => {
  const library = answerOf(PYTHON, '-c', 'import sysconfig; print(sysconfig.get_path("stdlib"))')
  const modules = join(library, 'lib-dynload')
  return [
    ...[...linksFrom(PYTHON), ...librariesOf(PYTHON), library],
    ...readdirSync(modules).flatMap((name) => librariesOf(join(modules, name))),
  ]
}

const compilerFiles = (): readonly string[] => {
  const compiler = realpathSync(answerOf('cc', '-print-prog-name=cc1'))
  return [
    ...[dirname(compiler), ...librariesOf(compiler)],
    ...LINKED.flatMap((name) => linksFrom(realpathSync(answerOf('cc', `-print-file-name=${name}`)))),
  ]
}

/** Git's commands and templates, the settings of the debugger, and npm. */
const otherTrees = (): readonly string[] => [
  answerOf('git', '--exec-path'),
  '/usr/share/git-core',
  '/usr/share/gdb',
  dirname(dirname(realpathSync('/usr/bin/npm'))),
]

const answerOf = (program: string, ...words: readonly string[]): string =>
  execFileSync(program, words, { encoding: 'utf8' }).trim()
