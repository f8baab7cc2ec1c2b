/** Adds `nosniff` to every answer, so that no browser treats bytes that a visitor sent as a page or a script. */
import { type IncomingMessage, type OutgoingHttpHeader, type OutgoingHttpHeaders, ServerResponse } from 'node:http'

const NAME = 'x-content-type-options'

type Headers = OutgoingHttpHeaders | OutgoingHttpHeader[]

/**
 * The response class of every server of the gate. It also covers answers that Node sends itself, such as 400 without a Host.
 * `answerBrokenRequest` has no response object and writes the header itself.
 */
export class NosniffResponse<T extends IncomingMessage = IncomingMessage> extends ServerResponse<T> {
  override writeHead(status: number, reason?: string, headers?: Headers): this
  override writeHead(status: number, headers?: Headers): this
  override writeHead(status: number, reason?: string | Headers, headers?: Headers): this {
    const given = typeof reason === 'object' ? reason : headers
    // `setHeader` makes Node copy all other headers one by one, so the header is added to the given object if there is one.
    if (given === undefined || Array.isArray(given)) this.setHeader(NAME, 'nosniff')
    else given[NAME] = 'nosniff'
    return typeof reason === 'string' ? super.writeHead(status, reason, headers) : super.writeHead(status, given)
  }
}
