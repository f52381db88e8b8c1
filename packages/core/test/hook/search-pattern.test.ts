// Where the patterns of search tools begin, as the hook reads them.
import { describe, expect, test } from 'vitest'

import { startsOfPattern } from '../../src/hook/search-pattern.js'

const OUTSIDE = /^(?:\/|~)|(?:^|\/)\.\.(?:\/|$)/

describe('a pattern', () => {
  test.each([
    ...[
      '{..,x}/*',
      '{x,..}/*',
      '.{.,x}/k',
      '{.,x}{.,y}/k',
      '{a/.,b}./k',
      '@(..)/x',
      '@(.)./x',
      '+(.)/x',
      '*(.)/x',
      '?(.)./x',
    ],
    ...[
      '(..|x)/y',
      '!(a|..)/x',
      '[.]./x',
      '.[.]/x',
      '[.][\\.]/x',
      '\\.\\./x',
      '.\\./x',
      '../x',
      'a/**/../../x',
      '..',
      'a/..',
    ],
    ...[
      '{/home/u,a}/*',
      '{a,/home/u}/x',
      '@(/home/u|x)/*',
      '(/home/u|x)',
      '{~/x,a}',
      '{a,{b,/home}}/x',
      '/home/*',
      '~/*',
    ],
    ...['{..', '{x,..', '@(..', '{a,b}'.repeat(20), '+(+(+(+(a|b|c|d|e))))'],
  ])('%j is judged by a path that leads out', (pattern) => {
    expect(startsOfPattern(pattern).filter((start) => OUTSIDE.test(start))).not.toEqual([])
  })

  test.each([
    ['**/*.ts', '.'],
    ['src/**/*.{ts,tsx}', 'src/'],
    ['**/*.{test,spec}.{ts,tsx}', '.'],
    ['{src,test}/**/*.ts', 'src/', 'test/'],
    ['{.eslintrc,.prettierrc}*', '.'],
    ['*.*.*', '.'],
    ['.*', '.'],
    ['app/**/[...slug]/page.tsx', 'app/'],
    ['app/[[...slug]]/page.tsx', 'app/'],
    ['app/(group)/*.tsx', 'app/group/'],
    ['!**/node_modules/**', '.'],
    ['!(*.test).ts', '.'],
    ['[a-z]*.js', '.'],
    ['src/a.ts', 'src/a.ts'],
    ['{a,b}.txt', 'a.txt', 'b.txt'],
    ['a\\*b', 'a*b'],
    ['', ''],
  ])('%j begins where it says', (pattern, ...starts) => {
    expect(startsOfPattern(pattern).toSorted()).toEqual(starts)
  })
})
