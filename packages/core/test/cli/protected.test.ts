import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, readdirSync, readlinkSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { expect, test } from 'vitest'

import type { Facts } from './printed.js'

import { describeForms, temporaryFolder } from './cordon.js'

const folder = temporaryFolder()

const project = (name: string): string => {
  const path = join(folder, name)
  mkdirSync(path)
  return path
}

describeForms('a protected name that the command creates', (run, form) => {
  const REASON = 'direnv and its kin run it on entering the folder'
  const said = (path: string, stderr: string) => {
    const [first = '', second = '', ...rest] = stderr.trimEnd().split('\n')
    expect(first).toMatch(
      new RegExp(
        `^cordon: protected-name-touched: the command, or another program at the same time, created ${path}, ` +
          `which is protected \\(${REASON}\\); Cordon renamed it to ${path}\\.set-aside-by-cordon-`,
      ),
    )
    expect(second).toMatch(
      new RegExp(
        `^fix: look at it; if it is yours: mv -nT -- '${path}\\.set-aside-by-cordon-[0-9a-f]+' '${path}'; to ` +
          `let the command create it, name it exactly: --write ${path}$`,
      ),
    )
    return rest
  }

  test('is renamed, and the run exits with 125, whether it was killed or exited with 0', () => {
    const place = project(`${form}-made`)
    for (const script of ['echo evil > .envrc; sleep 40', 'echo evil > .envrc']) {
      const { status, stderr } = run(['--write', '.', '--', 'sh', '-c', script], { cwd: place })
      expect(status, stderr).toBe(125)
      expect(said(join(place, '.envrc'), stderr)).toEqual([])
      expect(existsSync(join(place, '.envrc'))).toBe(false)
    }
  })

  test('may be a place for rules of later runs, also through a link', () => {
    const place = project(`${form}-rules`)
    mkdirSync(join(place, 'linked'))
    symlinkSync(join(place, 'linked'), join(folder, `${form}-rules-link`))
    for (const [config, made] of [
      [join(place, 'direct'), 'direct'],
      [join(folder, `${form}-rules-link`), 'linked'],
    ] as const) {
      const { stderr } = run(
        [
          '--write',
          '.',
          '--',
          'sh',
          '-c',
          `mkdir -p ${made}/cordon; echo 'rules: []' > ${made}/cordon/rules.yaml; true`,
        ],
        { cwd: place, environment: { XDG_CONFIG_HOME: config } },
      )
      expect(stderr).toContain('protected-name-touched')
      expect(existsSync(join(place, made, 'cordon'))).toBe(false)
    }
  })

  test('keeps the status of a failed command, but gives the reason', () => {
    const place = project(`${form}-failing`)
    // Deeper down, and last of all: what is looked at when the call has ended does not end it.
    const script =
      'git init -q new && printf "#!/bin/sh\\n" > new/.git/hooks/pre-commit && chmod +x ' +
      'new/.git/hooks/pre-commit; exit 3'
    const { status, stderr } = run(['--write', '.', '--', 'sh', '-c', script], { cwd: place })
    expect(status).toBe(3)
    expect(stderr).toContain(
      'cordon: protected-name-touched: the command, or another program at the same time, created ' +
        `${place}/new/.git/hooks/pre-commit, which is protected (git runs hooks`,
    )
    expect(stderr).toContain(`name it exactly: --write ${place}/new/.git/hooks\n`)
  })

  test('is permitted by the suggested fix, also if it does not exist yet', () => {
    const place = project(`${form}-named`)
    mkdirSync(join(place, 'deep'))
    const script = 'echo mine > .envrc; echo mine > deep/.envrc; sleep 0.3; cat .envrc deep/.envrc'
    expect(
      run(['--write', '.', '--write', join(place, '.envrc'), '--write', 'deep/.envrc', '--', 'sh', '-c', script], {
        cwd: place,
      }),
    ).toEqual({ status: 0, stdout: 'mine\nmine\n', stderr: '' })
    expect(
      run(['--write', '.', '--write', '**/.envrc', '--', 'sh', '-c', `rm -r .envrc deep; mkdir deep; ${script}`], {
        cwd: place,
      }),
    ).toEqual({ status: 0, stdout: 'mine\nmine\n', stderr: '' })
  })

  test('is a violation in the facts, with the error, and --quiet does not hide the reason of 125', () => {
    const place = project(`${form}-facts`)
    const { status, stderr } = run(
      ['--quiet', '--facts', join(folder, 'facts'), '--write', '.', '--', 'sh', '-c', 'echo evil > .envrc'],
      { cwd: place },
    )
    expect(status).toBe(125)
    expect(stderr).toContain('cordon: protected-name-touched: ')
    const facts = JSON.parse(readFileSync(join(folder, 'facts'), 'utf8')) as Facts
    expect(facts.result).toMatchObject({
      status: 'violated',
      exit_status: 125,
      error: { code: 'protected-name-touched', fix: expect.stringContaining('--write') as string },
    })
    expect(facts.violations).toMatchObject([{ kind: 'protected', deed: 'set-aside', path: join(place, '.envrc') }])
  })

  test('or removes, if it is a link, is restored, and the run exits with 125', () => {
    const place = project(`${form}-link`)
    symlinkSync('/nowhere', join(place, '.envrc'))
    const { status, stderr } = run(['--write', '.', '--', 'rm', '.envrc'], { cwd: place })
    expect(readlinkSync(join(place, '.envrc'))).toBe('/nowhere')
    expect(status).toBe(125)
    expect(stderr).toContain(
      `cordon: protected-name-touched: the command removed ${place}/.envrc, which is protected (${REASON}); ` +
        `Cordon restored it\nfix: to permit it, name it exactly: --write ${place}/.envrc\n`,
    )
  })

  test('and a policy carves out has the carve-out as its reason', () => {
    const place = project(`${form}-carved`)
    const { status, stderr } = run(
      ['--write', '.', '--write', '!later', '--', 'sh', '-c', 'echo x > later; sleep 40'],
      { cwd: place },
    )
    expect(status).toBe(125)
    expect(stderr).toContain(
      `the command, or another program at the same time, created ${place}/later, which is protected (the ` +
        'policy carves it out, or a git configuration points to it)',
    )
    expect(stderr).toContain('to let the command create it, remove the carve-out')
  })
})

describeForms('an existing protected name', (run, form) => {
  const repository = (name: string): string => {
    const place = project(name)
    execFileSync('git', ['init', '-q', place])
    mkdirSync(join(place, 'src'))
    writeFileSync(join(place, 'notes'), 'notes\n')
    return place
  }
  const facts = (): Facts => JSON.parse(readFileSync(join(folder, `${form}-facts.json`), 'utf8')) as Facts

  test.each([[['git', 'config', 'user.name', 'x']], [['sh', '-c', 'echo x > .git/config']], [['rm', '-rf', '.git']]])(
    '%j fails, and the hint says that the name is protected and what would permit it',
    (command) => {
      const place = repository(`${form}-${command[0]}-${String(command.length)}`)
      const { status, stderr } = run(['--write', '.', '--', ...command], { cwd: place })
      expect(status).not.toBe(0)
      expect(stderr).toMatch(
        new RegExp(
          `^cordon: (?:refused write of ${place}/\\.git/config \\(protected: |protected, so read-only in the ` +
            `cell: ${place}/\\.git/config)`,
          'm',
        ),
      )
      expect(stderr).toContain(`--write ${place}/.git/config`)
    },
  )

  test('is not mentioned if the command does not touch it, or succeeds', () => {
    const place = repository(`${form}-unrelated`)
    expect(run(['--write', '.', '--', 'sh', '-c', 'echo x > src/a; echo y > notes'], { cwd: place })).toEqual({
      status: 0,
      stdout: '',
      stderr: '',
    })
    expect(run(['--write', '.', '--', 'sh', '-c', 'exit 1'], { cwd: place }).stderr).not.toContain(
      'protected, and so read-only',
    )
  })

  test('closes no folder: new files can be created beside it', () => {
    const place = repository(`${form}-beside`)
    const { status, stderr } = run(
      [
        '--write',
        '.',
        '--facts',
        join(folder, `${form}-facts.json`),
        '--',
        'sh',
        '-c',
        'echo x > new && mkdir made && mv new made',
      ],
      { cwd: place },
    )
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
    expect(readdirSync(join(place, 'made'))).toEqual(['new'])
    expect(facts().sandbox_profile).toMatchObject({
      sealed: [`${place}/.git/config`, `${place}/.git/hooks`],
      closed_folders: [],
    })
  })

  test('a single granted file cannot be replaced, and the hint says so', () => {
    const place = repository(`${form}-single`)
    const file = join(place, 'notes')
    const { status, stderr } = run(['--write', file, '--', 'sed', '-i', 's/notes/other/', file], { cwd: place })
    expect(status).not.toBe(0)
    expect(stderr).toContain(
      `cordon: granted as a single file: ${file}; it can be changed in place, but not replaced or removed ` +
        `(EBUSY, EACCES); to allow that, grant its folder\n`,
    )
    expect(run(['--write', file, '--', 'sh', '-c', `echo other > ${file}`], { cwd: place }).status).toBe(0)
  })
})

describeForms('a protected name that the command could not change', (run, form) => {
  const repository = (name: string): string => {
    const place = project(`${form}-${name}`)
    const git = (...words: readonly string[]) =>
      execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@example.com', ...words], { cwd: place })
    git('init', '-q', '-b', 'main')
    for (const [branch, text] of [
      ['main', '{}'],
      ['other', '{ "private": true }'],
    ] as const) {
      if (branch !== 'main') git('checkout', '-q', '-b', branch)
      writeFileSync(join(place, 'package.json'), text)
      git('add', '.')
      git('commit', '-q', '-m', branch)
    }
    git('checkout', '-q', 'main')
    return place
  }
  const lines = (stderr: string) => stderr.split('\n').filter((line) => line.startsWith('cordon:'))

  test("is reported although git succeeds, and the status stays git's", () => {
    const place = repository('switched')
    const { status, stderr } = run(['--write', '.', '--', 'git', 'checkout', '-q', 'other'], { cwd: place })
    // In the landlock form nothing can be removed beside it, so that git fails.
    if (form === 'landlock') return
    expect(status, stderr).toBe(0)
    expect(lines(stderr)).toEqual([
      expect.stringMatching(
        new RegExp(
          `^cordon: refused write of ${place}/package.json \\(protected: .*\\): add --write ${place}/package.json$`,
        ),
      ),
    ])
  })

  test('is reported for any program that removes or replaces one, by any route', () => {
    const place = repository('removed')
    mkdirSync(join(place, 'sub'))
    const script = 'cd sub; rm -f ../package.json; echo x > y; mv y ../.git/config; touch z; rm z'
    const { stderr } = run(['--write', '.', '--', 'sh', '-c', `${script}; exit 0`], { cwd: place })
    if (form === 'landlock') return
    expect(lines(stderr).map((line) => / of (\S+)/.exec(line)?.[1])).toEqual([
      join(place, 'package.json'),
      join(place, '.git/config'),
    ])
  })

  test('is not reported for a command that left it alone, or that is permitted', () => {
    const place = repository('left')
    expect(
      lines(
        run(['--write', '.', '--', 'sh', '-c', 'cat package.json > copy; rm -f copy; true'], { cwd: place }).stderr,
      ),
    ).toEqual([])
    const { status, stderr } = run(
      ['--write', '.', '--write', 'package.json', '--', 'git', 'checkout', '-q', 'other'],
      { cwd: place },
    )
    if (form === 'landlock') return
    expect([status, lines(stderr)]).toEqual([0, []])
    expect(readFileSync(join(place, 'package.json'), 'utf8')).toBe('{ "private": true }')
  })
})
