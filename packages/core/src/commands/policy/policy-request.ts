// `cordon policy test --request`.
import {
  compileNetwork,
  credentialIdsFor,
  hostText,
  parsePolicy,
  parseRequest,
  resolvePolicy,
  ROOT_PATH,
} from '../../policy/index.js'

import { combinePolicies } from '../../settings/combine-policies.js'
import type { LoadedPolicy } from '../../settings/policy-file.js'

interface RequestAnswer {
  readonly request: string
  readonly allowed: boolean
  readonly because: string
  readonly credentials: readonly string[]
}

/** Whether these policies together allow a request. Nothing is sent. */
export const answerRequest = (text: string, files: readonly LoadedPolicy[]): RequestAnswer => {
  const { request, isTls } = parseRequest(text, '--request')
  const policy = combinePolicies(files, parsePolicy({}, 'no options'))
  const answer = compileNetwork(
    resolvePolicy(policy, { workspace: ROOT_PATH, home: ROOT_PATH, kind: 'process' }),
  ).answer(request)
  const allowed = answer.kind === 'allowed'
  return {
    request: text,
    allowed,
    because: becauseOf(answer, files),
    credentials: allowed && isTls ? credentialIdsFor(request, policy) : [],
  }
}

const becauseOf = (
  answer: ReturnType<ReturnType<typeof compileNetwork>['answer']>,
  files: readonly LoadedPolicy[],
): string => {
  if ('entry' in answer && answer.entry !== undefined) {
    const key = hostText(answer.entry)
    return files
      .filter(
        ({ policy: { network } }) => network.kind === 'list' && network.items.some((entry) => hostText(entry) === key),
      )
      .map(({ whereIs }) => whereIs('network', key))
      .join(', ')
  }
  if (answer.kind === 'allowed') return 'the whole network is granted'
  return answer.because === 'read-only' ? 'only reading is granted' : 'no line grants it'
}
