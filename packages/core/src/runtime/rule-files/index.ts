import type { addRule as addRuleNow, removeRule as removeRuleNow, RuleToAdd } from './add-rule.js'

export { MANAGED_FOLDER, PROJECT_FOLDER, isTrustedProject, loadRuleFiles, projectFolders } from './load-rule-files.js'
export type { RuleFileSettings } from './load-rule-files.js'
export { loadBounds } from './bounds.js'
export type { RequireWithin } from './bounds.js'
export { documentsIn, readRuleFile, ruleFilesIn, trustOf, userRulesIn } from './read-rule-file.js'
export type { Trust } from './read-rule-file.js'
export type { RuleToAdd }

/** Loads add-rule.ts when the first rule is added or removed. */
export const addRule: typeof addRuleNow = async (...given) => (await import('./add-rule.js')).addRule(...given)
export const removeRule: typeof removeRuleNow = async (...given) => (await import('./add-rule.js')).removeRule(...given)
