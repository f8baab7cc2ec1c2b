/** Says with every answer that its type is the one it says, so that no browser takes what a visitor has sent for a page or a script. */
import { type IncomingMessage, type OutgoingHttpHeader, type OutgoingHttpHeaders, ServerResponse } from 'node:http'

const NAME = 'x-content-type-options'

type Headers = OutgoingHttpHeaders | OutgoingHttpHeader[]

/**
 * The response of every server of the gate: pages, JSON, files, redirects, refusals, and what Node itself answers before a request
 * arrives, such as 400 without a Host. Only what is no HTTP is answered without one (`answerBrokenRequest`).
 */
export class NosniffResponse<T extends IncomingMessage = IncomingMessage> extends ServerResponse<T> {
  override writeHead(status: number, reason?: string, headers?: Headers): this
  override writeHead(status: number, headers?: Headers): this
  override writeHead(status: number, reason?: string | Headers, headers?: Headers): this {
    const given = typeof reason === 'string' ? headers : reason
    // Set by itself the header would make Node copy all others one by one; this costs a redirect nothing to speak of.
    if (given === undefined || Array.isArray(given)) this.setHeader(NAME, 'nosniff')
    else given[NAME] = 'nosniff'
    return typeof reason === 'string' ? super.writeHead(status, reason, headers) : super.writeHead(status, given)
  }
}
