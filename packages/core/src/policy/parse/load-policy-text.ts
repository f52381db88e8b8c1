import type { ToolPolicy } from '../model.js'
import { parsePolicyNode } from './parse-policy.js'
import { readDocument } from './read-document.js'

/** Reads a policy from YAML or JSON text. Errors name the file, the line and the key. */
export const loadPolicyText = (text: string, fileName: string): ToolPolicy =>
  parsePolicyNode(readDocument(text, fileName))
