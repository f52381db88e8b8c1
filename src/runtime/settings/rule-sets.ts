import { join } from 'node:path'

import { parseRules } from '../../gate/index.js'
import type { RuleSet } from '../../gate/index.js'
import type { Places } from '../../policy/index.js'
import { list, such } from '../../shapes/index.js'
import type { Shape } from '../../shapes/index.js'

import { loadRuleFiles } from '../rule-files/index.js'

export interface RuleOptions {
  /** Rule sets that were loaded (`loadRules`), or rules of this session as values. */
  readonly rules?: readonly (RuleSet | object)[]
  /**
   * Which rule files are in force beside these. `managed`, the default: those of the machine. `all`: also those of
   * the workspace, which can only deny and ask unless the user trusts it, and of the user. `none`: no files.
   */
  readonly ruleFiles?: 'managed' | 'all' | 'none'
  /** Where the rule files of the user lie; `.config/cordon` in the home when not given. */
  readonly configFolder?: string
}

const SHAPE =
  'write it like rules: [{ rules: [{ effect: "deny", tool: "bash", because: "…" }] }]; a rule file is read ' +
  'with loadRules() of cordon/gate'

/** A list of sets and not of rules: each set has a source of its own. */
export const ruleOption: Shape<readonly (RuleSet | object)[]> = list(
  such<RuleSet | object>('a rule set', (each) => typeof each === 'object' && each !== null && !('effect' in each), {
    fix: SHAPE,
  }),
  { expected: 'a list of rule sets', fix: SHAPE },
)

export interface RuleSets {
  /** Of files, which may be there for other agents as well. */
  readonly ofFiles: readonly RuleSet[]
  /** Written for this runtime. */
  readonly own: readonly RuleSet[]
}

export const ruleSetsOf = (options: RuleOptions, places: Places): RuleSets => {
  const given = options.rules ?? []
  const own = given.flatMap((set, at) =>
    isLoaded(set) ? [] : [parseRules(set, `rules[${String(at)}]`, { source: 'session', places })],
  )
  return { ofFiles: [...filesOf(options, places), ...given.filter(isLoaded)], own }
}

const filesOf = ({ ruleFiles = 'managed', configFolder }: RuleOptions, places: Places): readonly RuleSet[] => {
  switch (ruleFiles) {
    case 'none':
      return []
    case 'managed':
      return loadRuleFiles({ ...places, userFolder: undefined, projects: 'left-out', files: [] })
    case 'all':
      return loadRuleFiles({
        ...places,
        userFolder: configFolder ?? join(places.home, '.config', 'cordon'),
        projects: 'read',
        files: [],
      })
  }
}

const isLoaded = (set: RuleSet | object): set is RuleSet => 'source' in set && 'rules' in set && 'managedOnly' in set
