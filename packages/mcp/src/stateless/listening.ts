// `subscriptions/listen` of clients of revision 2026-07-28, for a gateway that knows subscriptions to single resources.
import { METHODS } from '../wire/era-2025.js'
import { ACKNOWLEDGED, grantable, isWished, ofSubscription, wishFields, wishesIn } from '../wire/era-2026.js'
import type { Wishes } from '../wire/era-2026.js'
import { notificationOf } from '../wire/messages.js'
import type { Fields, MessageId, SendToClient } from '../wire/messages.js'

export interface Listening {
  readonly open: (id: MessageId, params: Fields, capabilities: Fields) => Promise<void>
  /** Tells those who wish to hear it. */
  readonly tell: (method: string, params: Fields) => Promise<void> | undefined
  /** Whether there was one. */
  readonly close: (id: unknown) => boolean
}

export const createListening = (
  send: SendToClient,
  askGateway: (method: string, params: Fields) => Promise<Fields>,
): Listening => {
  const open = new Map<unknown, Wishes>()
  const isHeard = (uri: string): boolean => [...open.values()].some(({ resources }) => resources.includes(uri))
  return {
    open: async (id, params, capabilities) => {
      const wished = grantable(wishesIn(params), capabilities)
      const fresh = wished.resources.filter((uri) => !isHeard(uri))
      open.set(id, wished)
      const answers = await Promise.all(fresh.map((uri) => askGateway(METHODS.subscribe, { uri })))
      const failed = new Set(fresh.filter((_, at) => !('result' in (answers[at] ?? {}))))
      // Cancelled meanwhile.
      if (!open.has(id)) return
      const granted = { ...wished, resources: wished.resources.filter((uri) => !failed.has(uri)) }
      open.set(id, granted)
      void send(notificationOf(ACKNOWLEDGED, ofSubscription({ notifications: wishFields(granted) }, id)))
    },
    tell: (method, params) => {
      const slow = [...open].flatMap(([id, wishes]) =>
        isWished(wishes, method, params) ? [send(notificationOf(method, ofSubscription(params, id as MessageId)))] : [],
      )
      return slow.find((each) => each !== undefined)
    },
    close: (id) => {
      const closed = open.get(id)
      open.delete(id)
      for (const uri of closed?.resources ?? []) if (!isHeard(uri)) void askGateway(METHODS.unsubscribe, { uri })
      return closed !== undefined
    },
  }
}
