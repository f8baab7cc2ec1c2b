/**
 * Mail to people: invitations, password resets, account changes. It goes over SMTP_URL. Without that the log shows it, so that a small installation
 * needs no mail server. The sender is `?from=` of SMTP_URL, else its user, else sluice@ the public host.
 */
import { createTransport } from 'nodemailer'
import { Counter } from 'prom-client'
import type { Config } from '../config.ts'
import type { Ground } from '../room.ts'

type Mail = { to: string; subject: string; text: string }

/** The outcome of a mail: given to the server, shown in the log, or neither (the log says why). */
export type MailOutcome = 'sent' | 'logged' | 'failed'

const OUTCOMES: readonly MailOutcome[] = ['sent', 'logged', 'failed']
const mails = new Counter({
  name: 'sluice_mails_total',
  help: 'Mails, by outcome: sent, logged (SMTP_URL is not set), failed',
  labelNames: ['outcome'],
})
for (const outcome of OUTCOMES) mails.inc({ outcome }, 0)

/** How long a mail server may take for each step; a person waits for the answer. */
const PATIENCE_MS = 10_000

/** Sends one mail. Never throws, because its subject is already stored and can be reached without the mail. */
export async function sendMail(ground: Pick<Ground, 'config' | 'log'>, mail: Mail): Promise<MailOutcome> {
  const outcome = await deliverMail(ground, mail)
  mails.inc({ outcome })
  return outcome
}

async function deliverMail({ config, log }: Pick<Ground, 'config' | 'log'>, mail: Mail): Promise<MailOutcome> {
  const { smtpUrl } = config
  const { to, subject, text } = mail
  if (smtpUrl === undefined) {
    // A warning, because only readers of the log will see this mail.
    log.warn({ to, subject }, `SMTP_URL is not set, so this mail is shown here:\n\n${text}`)
    return 'logged'
  }
  const transport = createTransport({
    url: smtpUrl,
    connectionTimeout: PATIENCE_MS,
    greetingTimeout: PATIENCE_MS,
    socketTimeout: PATIENCE_MS,
  })
  try {
    await transport.sendMail({ from: senderOf(config), to: { name: '', address: to }, subject, text })
    return 'sent'
  } catch (error) {
    log.warn({ err: error, to, subject }, 'a mail could not be sent')
    return 'failed'
  } finally {
    transport.close()
  }
}

function senderOf({ smtpUrl = '', baseUrl }: Config): { name: string; address: string } {
  const url = URL.parse(smtpUrl)
  const user = decodeURIComponent(url?.username ?? '')
  const host = new URL(baseUrl ?? 'http://localhost').hostname
  return { name: 'Sluice', address: url?.searchParams.get('from') ?? (user.includes('@') ? user : `sluice@${host}`) }
}

/**
 * The address for links in mails: BASE_URL, else the loopback address that the browser used (the gate has checked it), else this process's own. Never
 * a Host header, which the requester can choose.
 */
export function linkTo({ baseUrl, port }: Config, path: string, origin: string | null | undefined): string {
  return `${baseUrl ?? origin ?? `http://localhost:${port}`}${path}`
}
