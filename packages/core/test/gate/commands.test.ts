import fc from 'fast-check'
import { describe, expect, it } from 'vitest'

import { commandLine, readArgv, readCommand } from '../../src/gate/index.js'
import { forbidsCommand, parseCommandPattern } from '../../src/gate/commands/command-pattern.js'
import { splitLine } from '../../src/gate/commands/shell-line.js'

import { gateWith, outcome, toolWith } from './stage.js'

const schema = { type: 'object', properties: { command: commandLine({}) } }
const bash = toolWith({ name: 'bash', kind: 'process', policy: { risk: 'high' }, schema })
const words = (line: string) => readCommand(line).parts.map((part) => part.words.map(({ text }) => text))

describe('a command line is split as a shell would', () => {
  it.each([
    ['git push origin main', ['git', 'push', 'origin', 'main']],
    ['echo \'a b\' "c d" e\\ f', ['echo', 'a b', 'c d', 'e f']],
    ['r\'\'m -r"f" x', ['rm', '-rf', 'x']],
    ["''", ['']],
    ['  a\tb  ', ['a', 'b']],
    ['a "x\\"y\\n"', ['a', 'x"y\\n']],
    ['price $ 5', ['price', '$', '5']],
  ])('%s', (line, expected) => {
    expect(readCommand(line)).toMatchObject({ isPlain: true })
    expect(words(line)).toEqual([expected])
  })

  it.each([
    'a | b',
    'a && b',
    'a || b',
    'a ; b',
    'a & b',
    'a\nb',
    '(a)',
    'a > f',
    'a < f',
    'a 2>&1',
    'a <<E',
    'a $(b)',
    'a `b`',
    'a $x',
    'a ${x}',
    'a "$x"',
    'a "`b`"',
    'a *',
    'a ?',
    'a [b]',
    'a {b,c}',
    'a ~/x',
    '! a',
    'A=b c',
    'if a',
    'while a',
    "a $'b'",
    'a #b',
    "a 'b",
    'a "b',
    'a \\',
    'a \\\nb',
    'a\0b',
    'a\rb',
    'bash -c "a"',
    'eval a b',
    '',
  ])('is not plain if only a shell can interpret it: %j', (line) => {
    expect(readCommand(line).isPlain).toBe(false)
  })

  it.each([
    ['a | rm x', ['rm', 'x']],
    ['a && rm x', ['rm', 'x']],
    ['echo $(rm x)', ['rm', 'x']],
    ['echo "$(rm x)"', ['rm', 'x']],
    ['echo `rm x`', ['rm', 'x']],
    ['echo "${a:-$(rm x)}"', ['rm', 'x']],
    ['echo $(echo $(rm x))', ['rm', 'x']],
    ['(cd a; rm x)', ['rm', 'x']],
    ['cat <(rm x)', ['rm', 'x']],
    ['bash -c "rm x"', ['rm', 'x']],
    ["sh -lc 'a; rm x'", ['rm', 'x']],
    ["eval 'rm x'", ['rm', 'x']],
    ["ssh host 'rm x'", ['rm', 'x']],
    ["sudo sh -c 'rm x'", ['rm', 'x']],
    ["$'\\x72m' x", ['rm', 'x']],
    ["$'\\162\\155' x", ['rm', 'x']],
    ["env -S 'rm x'", ['rm', 'x']],
  ])('%s does not hide a command', (line, expected) => {
    expect(words(line)).toContainEqual(expected)
  })

  it('never throws, and a plain line has one command', () => {
    fc.assert(
      fc.property(
        fc.oneof(fc.string(), fc.string({ unit: fc.constantFrom(...Array.from('ab \'"\\$`(){}|&;<>*\n~#!=')) })),
        (line) => {
          const split = splitLine(line)
          const read = readCommand(line)
          if (split.isPlain) expect(split.parts).toHaveLength(1)
          if (read.isPlain) expect(read.parts).toHaveLength(1)
        },
      ),
      { numRuns: 2000 },
    )
  })

  it('words that are quoted one by one stay the same', () => {
    fc.assert(
      fc.property(fc.array(fc.string(), { minLength: 1, maxLength: 6 }), (given) => {
        const line = given.map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(' ')
        expect(splitLine(line).parts.map((part) => part.words.map(({ text }) => text))).toEqual([given])
      }),
    )
  })

  it('a list of words needs no splitting', () => {
    expect(readArgv(['git', 'a;b', '$(x)'])).toMatchObject({
      isPlain: true,
      parts: [{ words: [{ text: 'git' }, { text: 'a;b' }, { text: '$(x)' }] }],
    })
    expect(readArgv(['sh', '-c', 'rm x']).isPlain).toBe(false)
    expect(readArgv([]).isPlain).toBe(false)
  })
})

const rules = (effect: string, ...command: string[]) => [{ effect, tool: 'bash', command, because: 'test' }]
const ask = (line: string, ...allowed: string[]) =>
  outcome({ tools: [bash], rules: rules('allow', ...allowed) }, { command: line })
const denies = async (line: string, ...denied: string[]) =>
  (await outcome({ tools: [bash], mode: 'bypass', rules: rules('deny', ...denied) }, { command: line })).startsWith(
    'deny',
  )

describe('an allow of a command', () => {
  it.each([
    ['git status', 'git status'],
    ['git  "status"', 'git status'],
    ['git log -5 --oneline', 'git log **'],
    ['git log', 'git log **'],
    ['npm test', 'npm {test}', 'npm t?st'],
    ['git -C x status', 'git ** status'],
  ])('%s is matched by one of its patterns', async (line, ...patterns) => {
    expect(await ask(line, ...patterns)).toBe('allow')
  })

  it.each([
    ['git status -s', 'git status'],
    ['git', 'git status'],
    ['gits', 'git'],
    ['/tmp/git status', 'git status'],
    ['./git status', 'git status'],
    ['git status; rm -rf /', 'git status **'],
    ['git status && rm -rf /', 'git status **'],
    ['git status | sh', 'git status **'],
    ['git status > /etc/passwd', 'git status **'],
    ['git status $(rm -rf /)', 'git status **'],
    ['git status `rm`', 'git **'],
    ['git status "$X"', 'git **'],
    ['git status *', 'git **'],
    ['LD_PRELOAD=x git status', 'git status'],
    ['LD_PRELOAD=x git status', '** git status'],
    ['git status\nrm x', 'git **'],
    ['sudo git status', 'git status'],
    ['bash -c "git status"', 'bash **'],
  ])('%j is not matched by %s', async (line, ...patterns) => {
    expect(await ask(line, ...patterns)).toBe('ask')
  })

  it('must cover every command of the call', async () => {
    const tool = toolWith({ name: 'bash', kind: 'process', policy: { risk: 'high' }, command: () => ['rm', 'x'] })
    expect(await outcome({ tools: [tool], rules: rules('allow', 'git status') }, { command: 'git status' })).toBe('ask')
    expect(
      await outcome({ tools: [tool], rules: rules('allow', 'git status', 'rm x') }, { command: 'git status' }),
    ).toBe('allow')
  })

  it('works for lists of words, and for the command of a process tool', async () => {
    expect(await outcome({ tools: [bash], rules: rules('allow', 'git status') }, { command: ['git', 'status'] })).toBe(
      'allow',
    )
    const grep = toolWith({
      name: 'bash',
      kind: 'process',
      policy: { risk: 'high' },
      command: (input) => ['rg', '--', (input as { readonly pattern: string }).pattern, '/data'],
    })
    expect(await outcome({ tools: [grep], rules: rules('allow', 'rg -- * /data') }, { pattern: 'a | b' })).toBe('allow')
    expect(await outcome({ tools: [grep], rules: rules('deny', 'rg **') }, { pattern: 'x' })).toBe('deny rule-denied')
  })
})

describe('a denial of a command', () => {
  it.each([
    'rm -rf /',
    'rm',
    "r''m x",
    '/bin/rm x',
    './rm x',
    'sudo rm x',
    'sudo -u root /usr/bin/rm x',
    'env A=1 rm x',
    'A=1 rm x',
    'a | rm x',
    'a; rm x',
    'a\nrm x',
    '> log rm x',
    'echo $(rm x)',
    'echo "`rm x`"',
    'bash -c "rm x"',
    'xargs rm',
    'find . -exec rm {} +',
    'timeout 5 rm x',
    'if true; then rm x; fi',
    '! rm x',
    '$X y',
    '"$(which rm)" y',
    '{rm,-rf,/}',
    "$'\\x72m' x",
    'ssh host "rm x"',
    'eval rm x',
  ])('finds its program in %j', async (line) => {
    expect(await denies(line, 'rm')).toBe(true)
  })

  it.each([
    'for f in *; do rm $f; done',
    'for f do rm x; done',
    'for ((i=0;i<3;i++)); do rm $i; done',
    'select x in a; do rm $x; done',
    'while read x; do rm $x; done < f',
    'until rm x; do :; done',
    'if a; then b; elif rm x; then c; fi',
    'if ! rm x; then :; fi',
    'case x in a) rm x;; esac',
    'case x in (a|b) c;; *) rm x; esac',
    'case $(rm x) in a) ;; esac',
    '{ rm x; }',
    '(rm x)',
    '(cd a && (rm x))',
    'f() { rm x; }; f',
    'f () ( rm x )',
    'function f { rm x; }',
    'time rm x',
    'time -p rm x',
    'coproc N { rm x; }',
    '[ a ] && rm x',
    '[[ a ]] && rm x',
    '[[ -f $(rm x) ]]',
    '[[ a || rm x ]]',
    '(( $(rm x) ))',
    '((rm x))',
    'a=(b $(rm x))',
    'A=1 B=2 rm x',
    'a$b=1 rm x',
    'cat <<E\n$(rm x)\nE',
    'cat <<E\n`rm x`\nE',
    "cat <<'E'\na\nE\nrm x",
    'cat <<-E\n\ta\n\tE\nrm x',
    'cat <<A <<B\n1\nA\n$(rm x)\nB',
    'sh <<E\nrm x\nE',
    'bash <<< "rm x"',
    '2>&1 rm x',
    '>f 2>g rm x',
    '{fd}>f rm x',
    '&>f rm x',
    '<f rm x',
    'ls >& f; rm x',
    "ls # don't\nrm x",
    'echo $(echo ")"); rm x; echo ""',
    `echo "\${x:-'}"; rm x; echo "'}"`,
    `echo $(cat <<E\n'\nE\n); rm x; echo ''`,
    '"$(case x in a) rm x;; esac)"',
    '${ rm x; }',
    'echo $((`rm x`))',
    'bash -c "$x"',
    'cat <<$x\nrm x',
  ])('finds its program in %j', async (line) => {
    expect(await denies(line, 'rm')).toBe(true)
  })

  it.each([
    'for f in *.txt; do echo "$f"; done',
    'for ((i=0;i<3;i++)); do echo $i; done',
    'select x in a b; do echo $x; done',
    'while read -r l; do echo "$l"; done < f',
    'until [ -f x ]; do sleep 1; done',
    'if [ "$x" = y ]; then echo z; fi',
    'case $x in rm|b) echo 1;; *) echo 2;; esac',
    '{ echo a; echo b; }',
    '(echo a; echo b)',
    'f() { echo rm; }; f',
    'function f { echo a; }',
    'time ls',
    '! grep a b',
    '[ -f rm ] && echo b',
    '[[ -f rm ]] && echo b',
    '[[ $a == b* && -n $c ]]',
    '(( x > 2 )) && echo y',
    'echo $(( $x + 1 ))',
    'echo "${a[@]}"',
    'x=$(ls); echo "$x"',
    'a=(rm x); echo b',
    'A=rm make',
    'cat <<E\nhello $x\nrm y\nE',
    "cat <<'E' > f\n$(rm x)\nE",
    'cat <<-E | grep x\n\t$(ls)\n\tE',
    'read -r a b <<< "$x"',
    "git commit -m \"$(cat <<'E'\ndon't rm (x\nE\n)\"",
    'ls 2>&1 | grep x',
    'echo a > rm',
    'echo a # rm b',
  ])('ignores %j, which has no such program', async (line) => {
    expect(await denies(line, 'rm')).toBe(false)
  })

  it.each([
    "$'rm\\0junk' x",
    "$'\\562m' x",
    "$'\\x{72}m' x",
    "$'\\U00000072m' x",
    "echo $'\\'; rm x #'",
    'a=1 case x in; rm x',
    '>f case x in; rm x',
    '((1<<2))\nrm x\n2',
    'a[1<<2]=3\nrm x\n2]=3',
    'echo $[1<<2]\nrm x\n2]',
    'echo $((1<<2\n)); rm x\n2\n))',
    'cat <<EOF\nEO\\\nF\nrm x\nEOF',
    "for x in a # it's\ndo rm x; done # '",
    `echo "\${x#'"'}"; rm x; echo }'"' #'`,
    "echo a \\\n#'\nrm x #'",
    'echo "$\\\n(rm x)"',
    "cat <\\\n<E\n'\nE\nrm x\n'",
    '`r\\\\m x`',
    'ls &>f rm x',
    'echo ${x:-<(rm x)}',
    '> \\\nf rm x',
    "bash -c -- 'rm x'",
    "sh -c -e 'rm x'",
    "bash -co errexit 'rm x'",
    "bash +c 'rm x'",
    "env -S'rm x'",
    "let 'a[$(rm x)]'",
    "x='a[$(rm x)]'; ((x))",
    "test -v 'a[$(rm x)]'",
    "printf -v 'a[$(rm x)]' y",
    "x='$(rm x)'; echo ${x@P}",
    "BASH_ENV='$(rm x)' bash -c :",
    "PS4='$(rm x)' bash -xc :",
    "PAGER='rm x' git log",
    "env 'BASH_FUNC_ls%%=() { rm x; }' bash -c ls",
    'prlimit rm x',
    'setarch -R rm x',
    'linux64 rm x',
    'ssh-agent rm x',
    "sg root 'rm x'",
    'systemd-run rm x',
    'ip netns exec n rm x',
    'git bisect run rm x',
    '/lib64/ld-linux-x86-64.so.2 /bin/rm x',
    "mapfile -C 'rm x' -c 1",
    "compgen -C 'rm x'",
    "compgen -C 'rm&a'",
    "trap 'a;rm' EXIT",
    "ssh host 'a;rm${IFS}x'",
    'alias q=rm\nq x',
    "split --filter='rm x' f",
    "sh -{a,b}ec 'rm x'",
    "bash $o 'rm x'",
    'a=(b)] rm x',
    'mapfile -Crm -c 1',
    '`r\\\\\\\nm x`',
  ])('finds its program in %j, as a shell would', async (line) => {
    expect(await denies(line, 'rm')).toBe(true)
    expect(await ask(line, 'rm **', 'echo **', 'cat **', 'bash **')).toBe('ask')
  })

  it.each([
    ['bash', '-c', '--', 'rm x'],
    ['sh', '-c', '-e', 'rm x'],
    ['bash', '-co', 'errexit', 'rm x'],
    ['prlimit', 'rm', 'x'],
    ['env', 'BASH_ENV=$(rm x)', 'bash', '-c', ':'],
    ['sudo', '-C', '3', 'sh', '-c', 'rm x'],
  ])('finds its program among the words %s %s %s %s', (...argv: string[]) => {
    const parsed = parseCommandPattern('rm')
    expect(parsed.kind === 'pattern' && forbidsCommand(parsed.pattern, readArgv(argv))).toBe(true)
  })

  it.each([
    "grep '$(foo)' f",
    "awk '{print $(NF-1)}' f",
    "git commit -m 'use `rm` less'",
    'for x in a b # all\ndo echo $x; done',
    'echo $((1<<2)) $(( (a+b) * 2 )) $((${#y}+1)) $(( $(wc -l < f) + 1 ))',
    'while (( i < 3 )); do ((i++)); done',
    'm["$k"]=1; echo "${m[a]}"',
    'arr=(a b "c d"); echo ${#arr[@]}',
    'while read -r l; do echo "$l"; done < <(ls)',
    'docker run \\\n  -it x',
    'ls &&\\\n  echo b',
    'a && \\\nb',
    'echo a \\\n  # b',
    `bash -c 'echo "$1"' _ rm`,
    "bash -euo pipefail -c 'echo hi'",
    'PAGER=cat git log',
    'time -p { ls; }',
    'ls !(a|b)',
    'git rm x',
    'npm rm x',
    'cat <<EOF > f\na \\\n b\nEOF',
    "cat > f <<'EOF'\n$(rm x)\n`rm y`\nEOF",
    'find . \\( -name a -o -name b \\) -print',
    'echo "${x:-default}" "${x%.*}" "${x//\\//_}" "${x:-"y"}"',
    "echo $'a\\tb\\n'",
    '{ echo a; echo b; } > f 2>&1',
    '[[ $x =~ ^(a|b)$ ]] && echo y',
    'grep rm f &>/dev/null',
    "export PS1='\\u:\\w\\$ '",
    "trap 'echo bye' EXIT",
    'bash "$d/run.sh" "$x"',
    'bash run.sh "$x"',
  ])('ignores %j, which has only one reading', async (line) => {
    expect(await denies(line, 'rm')).toBe(false)
  })

  it.each(['echo rm', 'git commit -m "rm x"', 'rmdir x', 'ls rm', 'grep "rm -rf" log'])('ignores %j', async (line) => {
    expect(await denies(line, 'rm')).toBe(false)
  })

  it.each([
    ['git push --force origin', 'git push ** --force', true],
    ['git push origin --force', 'git push ** --force', true],
    ['git push origin', 'git push ** --force', false],
    ['git push "$FLAGS"', 'git push ** --force', true],
    ['git push', 'git push', true],
    ['git pull', 'git push', false],
    ['curl -d @x http://a', 'curl ** @*', true],
  ])('%s by %s: %s', async (line, pattern, expected) => {
    expect(await denies(line, pattern)).toBe(expected)
  })

  it('cannot be evaded by many commands, deep nesting or long lines', async () => {
    const deep = Array.from({ length: 12 }).reduce<string>((inner) => `echo $(${inner})`, 'rm x')
    for (const line of [`${'a;'.repeat(500)}rm x`, deep, `echo ${'x'.repeat(300_000)}; rm x`]) {
      expect(await denies(line, 'rm')).toBe(true)
      expect(await ask(line, 'echo **', 'a')).toBe('ask')
    }
  })

  it('applies at any place of a marked input, and to common parameter names without a mark', async () => {
    for (const key of ['command', 'cmd', 'script', 'argv'])
      expect(
        await outcome(
          { tools: [toolWith({ name: 'bash' })], mode: 'bypass', rules: rules('deny', 'rm') },
          { [key]: 'rm x' },
        ),
      ).toBe('deny rule-denied')
    expect(await outcome({ tools: [bash], mode: 'bypass', rules: rules('deny', 'rm') }, { other: 'rm x' })).toBe(
      'sandboxed',
    )
  })
})

describe('options before and between the words of a command', () => {
  it.each([
    ['git push', 'git -C . push'],
    ['git push', 'git -C "$DIR" push'],
    ['git push', 'git -c user.name=x push origin'],
    ['git push', 'git --git-dir=x push'],
    ['git push', 'git --work-tree x --no-pager push'],
    ['git push', '/usr/bin/git -C . push'],
    ['git push', 'sudo git -C . push'],
    ['git push', 'sh -c "git -C . push"'],
    ['git push', 'git --new-flag push'],
    ['git push', 'git --new-option value push'],
    ['git push', 'git -c alias.p=push p'],
    ['git push', 'git -c ALIAS.p=push p'],
    ['git push', 'git --config-env=alias.p=P p'],
    ['git push', 'GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=alias.p GIT_CONFIG_VALUE_0=push git p'],
    ['git push', 'env GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=$K GIT_CONFIG_VALUE_0=push git p'],
    ['git push', `export GIT_CONFIG_PARAMETERS="'Alias.p'='push'"; git p`],
    ['git push', 'git -C $DIR'],
    ['git push --force', 'git push --tags --force'],
    ['npm publish', 'npm --prefix x publish'],
    ['npm publish', 'npm --silent publish'],
    ['docker push', 'docker --context x push image'],
    ['kubectl delete', 'kubectl -n x delete pod y'],
    ['gh pr merge', 'gh -R a/b pr merge 1'],
    ['gh pr merge', 'gh pr -R a/b merge 1'],
    // Read both ways: Cordon has no list of options that could be wrong.
    ['git push', 'git -C push status'],
    ['git push', 'git --no-pager log push'],
  ])('a denial of %s sees %s', async (rule, line) => {
    expect(await denies(line, rule)).toBe(true)
  })

  it.each([
    ['git push', 'git -C . status'],
    ['git push', 'git commit -m push'],
    ['git push', 'GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=user.name GIT_CONFIG_VALUE_0=push git status'],
    ['git push', 'git --git-dir=push status'],
    ['npm publish', 'npm --prefix x test'],
    ['docker push', 'docker --context x version'],
    ['kubectl delete', 'kubectl -n x get pods'],
    ['gh pr merge', 'gh -R pr/merge pr view'],
    ['rm x', 'rm -f y'],
  ])('a denial of %s leaves %s alone', async (rule, line) => {
    expect(await denies(line, rule)).toBe(false)
  })

  it('an allow matches no option that it does not name', async () => {
    expect(await ask('git status', 'git status')).toMatch(/^allow/)
    expect(await ask('git -C / status', 'git status')).not.toMatch(/^allow/)
    expect(await ask('git -c a.b=c status', 'git **')).toMatch(/^allow/)
    expect(await ask('git -c alias.status=push status', 'git **')).not.toMatch(/^allow/)
  })
})

describe('a command pattern', () => {
  it.each(['a | b', 'a; b', 'a && b', 'a > b', '$(a)', '`a`', '', '   '])('%j is refused at load time', (pattern) => {
    expect(() => gateWith({ rules: rules('allow', pattern) })).toThrow(
      expect.objectContaining({ code: 'policy-invalid-value' }),
    )
  })
})
