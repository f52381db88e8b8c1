// Fuzzes the parsers of native/ with libFuzzer, under the address and undefined-behaviour sanitizers.
//
//   npm run fuzz                                     every target for a minute each
//   npm run fuzz -- --target plan --seconds 600      one of them, for longer
//   npm run fuzz -- --runs 20000                     a fixed number of runs from a fixed seed, as `npm test` does
//   npm run fuzz -- --target plan --input FILE       one input again
//
// The corpus is build/fuzz/TARGET.corpus. Crashing inputs are build/fuzz/TARGET-crash-….
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'

import { SEEDS } from './fuzz-seeds.mjs'

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)))
const NATIVE = join(ROOT, 'native')
const OUTPUT = join(ROOT, 'build', 'fuzz')
const FLAGS = [
  '-std=gnu11',
  '-Wall',
  '-Wextra',
  '-Werror',
  '-D_GNU_SOURCE',
  '-O1',
  '-g',
  '-fno-omit-frame-pointer',
  '-fsanitize=fuzzer,address,undefined',
  '-fno-sanitize-recover=undefined',
  '-I',
  NATIVE,
]

const say = (text) => process.stdout.write(`fuzz: ${text}\n`)
const stop = (text) => {
  process.stderr.write(`fuzz: ${text}\n`)
  process.exit(1)
}

const TARGETS = readdirSync(join(NATIVE, 'fuzz'))
  .filter((name) => name.endsWith('.c'))
  .map((name) => name.slice(0, -'.c'.length))
  .sort()

const refuseWithoutRuntime = () => {
  if (spawnSync('clang', ['--version'], { stdio: 'ignore' }).status !== 0)
    stop('clang is missing, and libFuzzer is part of it; apt-get install clang libclang-rt-dev')
  const trivial =
    '#include <stddef.h>\nint LLVMFuzzerTestOneInput(const char *data, size_t size) { return data == NULL && ' +
    'size > 0; }\n'
  const tried = spawnSync('clang', [...FLAGS, '-Wno-missing-prototypes', '-x', 'c', '-', '-o', '/dev/null'], {
    input: trivial,
    encoding: 'utf8',
  })
  if (tried.status !== 0)
    stop(
      'clang cannot link a fuzz target, its runtime seems to be missing; apt-get install libclang-rt-dev ' +
        `(elsewhere: compiler-rt)\n${tried.stderr}`,
    )
}

/** The first comment of a target names its sources. */
const sourcesOf = (target) => {
  const file = join(NATIVE, 'fuzz', `${target}.c`)
  const needs = /^ \* needs: (.+)$/m.exec(readFileSync(file, 'utf8'))
  if (needs === null)
    stop(`${file} does not say which sources it needs (" * needs: wire/plan.c …" in its first comment)`)
  return [file, ...needs[1].split(' ').map((name) => join(NATIVE, name))]
}

const build = (target) => {
  const program = join(OUTPUT, target)
  const { status } = spawnSync('clang', [...FLAGS, ...sourcesOf(target), '-o', program], { stdio: 'inherit' })
  if (status !== 0) stop(`clang could not compile the target ${target} (see above)`)
  return program
}

const emptyFolder = (name) => {
  const folder = join(OUTPUT, name)
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  return folder
}

const writeSeeds = async (target) => {
  const folder = emptyFolder(`${target}.seeds`)
  const seeds = await SEEDS[target]()
  for (const [index, bytes] of seeds.entries()) writeFileSync(join(folder, String(index).padStart(4, '0')), bytes)
  return folder
}

const fuzz = async (target, { seconds, runs, input }) => {
  const program = build(target)
  const common = ['-timeout=10', '-print_final_stats=0', '-verbosity=0', `-artifact_prefix=${OUTPUT}/${target}-`]
  if (input !== undefined) return spawnSync(program, [...common, input], { stdio: 'inherit' }).status === 0
  const seeds = await writeSeeds(target)
  // A fixed number of runs is repeatable, so it does not use the corpus.
  const corpus = runs === undefined ? join(OUTPUT, `${target}.corpus`) : emptyFolder(`${target}.learned`)
  mkdirSync(corpus, { recursive: true })
  const amount = runs === undefined ? [`-max_total_time=${seconds}`] : [`-runs=${runs}`, '-seed=1']
  const { status, stderr } = spawnSync(program, [...common, ...amount, corpus, seeds], {
    stdio: ['ignore', 'ignore', 'pipe'],
    encoding: 'utf8',
    maxBuffer: 1 << 30,
  })
  // The long output of libFuzzer matters only if it found something.
  if (status !== 0) process.stderr.write(stderr)
  if (status === 0)
    say(
      `${target}: nothing found in ${runs === undefined ? `${seconds} seconds` : `${runs} runs`} ` +
        `(${readdirSync(seeds).length} seeds, ${readdirSync(corpus).length} inputs that reach something new)`,
    )
  else
    say(
      `${target}: found something; the input is ${OUTPUT}/${target}-… (see above), try it again with: npm ` +
        `run fuzz -- --target ${target} --input FILE`,
    )
  return status === 0
}

const { values: options } = parseArgs({
  options: {
    target: { type: 'string' },
    seconds: { type: 'string', default: '60' },
    runs: { type: 'string' },
    input: { type: 'string' },
  },
})
for (const name of ['seconds', 'runs'])
  if (options[name] !== undefined && !/^[1-9]\d*$/.test(options[name]))
    stop(`--${name} is a whole number, not ${options[name]}`)
if (options.target !== undefined && !TARGETS.includes(options.target))
  stop(`--target is one of ${TARGETS.join(', ')}, not ${options.target}`)
if (options.input !== undefined && options.target === undefined) stop('--input needs the --target that it is for')
if (!existsSync(join(ROOT, 'dist'))) stop('the first inputs are made by the built library; npm run build')
refuseWithoutRuntime()
mkdirSync(OUTPUT, { recursive: true })

let clean = true
for (const target of options.target === undefined ? TARGETS : [options.target])
  clean = (await fuzz(target, options)) && clean
process.exitCode = clean ? 0 : 1
