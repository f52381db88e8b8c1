// Errors of `cordon manifest`.
import { ERRORS as CORE_ERRORS, failFrom } from 'cordon/errors'
import type { ErrorText, Fail } from 'cordon/errors'

export const ERRORS = {
  'project-undescribed': {
    when: 'The configuration or an entry of a project could not be loaded, so its tools are not known.',
    message: '{project} cannot be described: {problem}',
    agent: 'The tools of this project cannot be described.',
    fix: '{fix}',
  },
  'baseline-unreadable': {
    when: 'The baseline of `cordon manifest verify` cannot be read.',
    message: 'the baseline {baseline} cannot be read: {problem}',
    agent: 'The baseline of this project cannot be read.',
    fix: '{fix}',
  },
  'typescript-missing': {
    when: 'The code of a project is to be read, and the package typescript is missing or of another version.',
    message: 'the code of tools cannot be read without the package typescript: {problem}',
    agent: 'The code of this project cannot be read.',
    fix: 'npm install --save-dev typescript@6',
  },
  'copy-partial': {
    when: 'The copy of Cordon that `hook install` and `mcp install` make was to load the code of a project.',
    message: 'this copy of Cordon only runs hooks and gateways, and cannot load a project',
    agent: 'The tools of this project cannot be described.',
    fix: 'use the Cordon of the project: npx cordon manifest …; or install it: npm install cordon',
  },
} as const satisfies Record<string, ErrorText>

const ALL_ERRORS = { ...CORE_ERRORS, ...ERRORS } as const

export const fail: Fail<typeof ALL_ERRORS> = failFrom(ALL_ERRORS)
