import { inspect } from 'node:util'

/** A value that is not printed in messages, JSON or a debugger. */
export class Secret {
  readonly #bytes: Buffer

  constructor(bytes: Buffer) {
    this.#bytes = bytes
  }

  /** One character per byte. The text cannot be erased: keep it no longer than one request. */
  reveal(): string {
    return this.#bytes.toString('latin1')
  }

  /** A copy, because this one may be erased. */
  bytes(): Buffer {
    return Buffer.from(this.#bytes)
  }

  get length(): number {
    return this.#bytes.length
  }

  erase(): void {
    this.#bytes.fill(0)
  }

  toString(): string {
    return '[secret]'
  }

  toJSON(): string {
    return '[secret]'
  }

  [inspect.custom](): string {
    return '[secret]'
  }
}
