// Compiles native/ into build/cordon-cell, the launcher that every native cell starts with.
//
//   node scripts/build-native.mjs                      for this machine
//   node scripts/build-native.mjs --target x86_64      cross-compiled into build/x86_64/ (or aarch64)
//   node scripts/build-native.mjs --target … --pack    and put into the launcher package of that target
//   node scripts/build-native.mjs --sanitize           build/sanitize/cordon-cell with ASan and UBSan
//   node scripts/build-native.mjs --install            for `npm install cordon`: only if there is no launcher yet
import { execFileSync, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'

import { packLauncher } from './pack-launcher.mjs'

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)))
const NODE_ARCH = { x86_64: 'x64', aarch64: 'arm64' }
const HOST_TARGET = { x64: 'x86_64', arm64: 'aarch64' }[process.arch]

const CROSS_PACKAGES = {
  x86_64: 'gcc-x86-64-linux-gnu libc6-dev-amd64-cross',
  aarch64: 'gcc-aarch64-linux-gnu libc6-dev-arm64-cross',
}

const NATIVE = join(ROOT, 'native')
// No -Wsign-conversion: the kernel mixes signs of descriptors, sizes and lengths, and the casts would explain nothing.
const WARNINGS = ['-Wall', '-Wextra', '-Wshadow', '-Wformat=2', '-Wconversion', '-Wno-sign-conversion']
const COMMON = ['-std=gnu11', '-D_GNU_SOURCE', ...WARNINGS, '-I', NATIVE]
// Not for an installation, which must not fail because another compiler has more warnings.
const STRICT = ['-Werror']
// Distributions predefine _FORTIFY_SOURCE. Redefining it without -U is an error under -Werror.
const fortify = (level) => ['-O2', '-fstack-protector-strong', '-U_FORTIFY_SOURCE', `-D_FORTIFY_SOURCE=${level}`]
const STATIC_PIE = ['-fPIE', '-static-pie', '-Wl,-z,relro,-z,now']
const DYNAMIC_PIE = ['-fPIE', '-pie', '-Wl,-z,relro,-z,now']
const SANITIZE = [
  '-O1',
  '-g',
  '-fno-omit-frame-pointer',
  '-fsanitize=address,undefined',
  '-fno-sanitize-recover=undefined',
]

const say = (text) => process.stdout.write(`build-native: ${text}\n`)
const stop = (text) => {
  process.stderr.write(`build-native: ${text}\n`)
  process.exit(1)
}

const listNative = (extension) => {
  if (!existsSync(NATIVE)) return []
  const names = readdirSync(NATIVE, { recursive: true }).filter(
    (name) => name.endsWith(extension) && !name.startsWith('fuzz/'),
  )
  return names.sort().map((name) => join(NATIVE, name))
}

const answers = (compiler) => spawnSync(compiler, ['--version'], { stdio: 'ignore' }).status === 0

const findCompiler = (target) => {
  if (target !== HOST_TARGET) return [`${target}-linux-gnu-gcc`].find(answers)
  return [process.env.CC, 'cc', 'gcc', 'clang'].filter(Boolean).find(answers)
}

// Flags are chosen by compiling a trivial program, so that an error in native/ never leads to weaker flags.
const accepts = (compiler, flags) =>
  spawnSync(compiler, [...COMMON, ...STRICT, ...flags, '-x', 'c', '-', '-o', '/dev/null'], {
    input: '#include <stdio.h>\nint main(void) { return puts("") < 0; }\n',
    stdio: ['pipe', 'ignore', 'ignore'],
  }).status === 0

const chooseFlags = (compiler) => {
  for (const link of [STATIC_PIE, DYNAMIC_PIE]) {
    for (const level of [3, 2]) {
      const flags = [...fortify(level), ...link]
      if (accepts(compiler, flags))
        return { flags, form: `${link === STATIC_PIE ? 'static PIE' : 'dynamic PIE'}, _FORTIFY_SOURCE=${level}` }
    }
  }
  return undefined
}

const fingerprint = (compiler, flags, files) => {
  const hash = createHash('sha256')
    .update(execFileSync(compiler, ['--version']))
    .update(flags.join(' '))
  for (const file of files) hash.update(file).update(readFileSync(file))
  return hash.digest('hex')
}

const OF_THIS_MACHINE = join(ROOT, 'build', 'cordon-cell')

const hasStamp = (output, wanted) =>
  existsSync(output) && existsSync(`${output}.stamp`) && readFileSync(`${output}.stamp`, 'utf8') === wanted

const compile = (compiler, flags, form, output) => {
  const sources = listNative('.c')
  const wanted = fingerprint(compiler, flags, [...sources, ...listNative('.h')])
  if (hasStamp(output, wanted)) return say(`${output} is up to date`)
  mkdirSync(dirname(output), { recursive: true })
  // Renamed into place, so that a cell never starts with half a launcher.
  const fresh = `${output}.${process.pid}`
  // The target may be this machine, and the result is the same.
  if (hasStamp(OF_THIS_MACHINE, wanted)) copyFileSync(OF_THIS_MACHINE, fresh)
  else if (spawnSync(compiler, [...COMMON, ...flags, ...sources, '-o', fresh], { stdio: 'inherit' }).status !== 0)
    stop(`${compiler} could not compile native/ (see above)`)
  renameSync(fresh, output)
  writeFileSync(`${output}.stamp`, wanted)
  say(`${output} built by ${compiler} (${form})`)
}

const PREBUILT = `@cordon/launcher-linux-${process.arch}`

const findPrebuilt = () => createRequire(import.meta.url).resolve(`${PREBUILT}/bin/cordon-cell`)

const hasPrebuilt = () => {
  try {
    return findPrebuilt() !== ''
  } catch {
    return false
  }
}

const usePrebuilt = (output) => {
  const fix =
    `install a compiler (apt-get install gcc libc6-dev) or the prebuilt launcher (npm install ${PREBUILT}), ` +
    'then run this again'
  try {
    const prebuilt = findPrebuilt()
    mkdirSync(dirname(output), { recursive: true })
    rmSync(`${output}.stamp`, { force: true })
    // The native `cordon` may be another name of the old one.
    rmSync(output, { force: true })
    copyFileSync(prebuilt, output)
    chmodSync(output, 0o755)
    say(`no C compiler here; ${output} copied from ${PREBUILT}`)
  } catch (cause) {
    stop(`no working C compiler and no prebuilt launcher for ${process.arch} (${cause.code ?? cause.message}); ${fix}`)
  }
}

const { values: options } = parseArgs({
  options: {
    target: { type: 'string' },
    pack: { type: 'boolean' },
    sanitize: { type: 'boolean' },
    install: { type: 'boolean' },
  },
})
const target = options.target ?? HOST_TARGET

if (options.target !== undefined && !(options.target in NODE_ARCH))
  stop(`--target is x86_64 or aarch64, not ${options.target}`)
if (options.target === undefined && process.platform !== 'linux') {
  say(
    `left out: the launcher of cells, which needs Linux (this is ${process.platform}). Everything else works; ` +
      'docs/macos.md says what tools can run in',
  )
} else if (options.install && existsSync(join(ROOT, 'src'))) {
  say('skipped: a checkout is built by npm run build, which npm runs next')
} else if (options.install && hasPrebuilt()) {
  say(`nothing to build: ${PREBUILT} brings the launcher`)
} else if (listNative('.c').length === 0) {
  stop('native/ holds no C sources: this checkout is incomplete')
} else {
  const folder = options.sanitize ? 'build/sanitize' : options.target === undefined ? 'build' : `build/${target}`
  const output = join(ROOT, folder, 'cordon-cell')
  const compiler = target === undefined ? undefined : findCompiler(target)
  const chosen =
    compiler === undefined
      ? undefined
      : options.sanitize
        ? { flags: SANITIZE, form: 'sanitizers' }
        : chooseFlags(compiler)

  if (chosen !== undefined)
    compile(compiler, [...(options.install ? [] : STRICT), ...chosen.flags], chosen.form, output)
  else if (options.target !== undefined)
    stop(`${target}-linux-gnu-gcc is missing or broken; apt-get install ${CROSS_PACKAGES[target]}`)
  else if (options.sanitize) stop('the sanitizer build needs a C compiler; apt-get install gcc libc6-dev')
  else usePrebuilt(output)

  if (options.pack) say(`packed, ready to publish: ${packLauncher(ROOT, NODE_ARCH[target], output)}`)
}
