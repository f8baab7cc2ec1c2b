/** Says with every answer that its type is the one it says, so that no browser takes what a visitor has sent for a page or a script. */
import { type IncomingMessage, type OutgoingHttpHeader, type OutgoingHttpHeaders, ServerResponse } from 'node:http'

const NAME = 'x-content-type-options'

type Headers = OutgoingHttpHeaders | OutgoingHttpHeader[]

/**
 * The response of every server of the gate: pages, JSON, files, redirects, refusals, and what Node itself answers before a request
 * arrives, such as 400 without a Host. `answerBrokenRequest` has no response, and writes the header itself.
 */
export class NosniffResponse<T extends IncomingMessage = IncomingMessage> extends ServerResponse<T> {
  override writeHead(status: number, reason?: string, headers?: Headers): this
  override writeHead(status: number, headers?: Headers): this
  override writeHead(status: number, reason?: string | Headers, headers?: Headers): this {
    const given = typeof reason === 'object' ? reason : headers
    // A header that is set by itself makes Node copy all others one by one, so it goes in among them where that can be.
    if (given === undefined || Array.isArray(given)) this.setHeader(NAME, 'nosniff')
    else given[NAME] = 'nosniff'
    return typeof reason === 'string' ? super.writeHead(status, reason, headers) : super.writeHead(status, given)
  }
}
