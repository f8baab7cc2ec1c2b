/** The session and the sign-in forms. These routes belong to the sign-in library, so they are called by address. */
import { queryOptions } from '@tanstack/react-query'
import type { z } from 'zod'
import type { SECOND_FORMS } from '../../../people/second-factor/api.ts'
import type { AUTH_FORMS } from '../../../people/sign-in/api.ts'
import { send } from '../../ground/call.ts'

export type SignedIn = {
  user: { id: string; name: string; email: string; image?: string | null; twoFactorEnabled: boolean }
}

/** The session of the cookie that the browser holds now. Null when nobody is signed in. */
export const readSession = async () => (await send('GET', '/api/auth/get-session')) as SignedIn | null

/** The person this page was opened for, cached until they sign in or out. */
export const whoIsSignedIn = queryOptions({
  queryKey: ['GET /api/auth/get-session'],
  queryFn: readSession,
  staleTime: Number.POSITIVE_INFINITY,
})

type AuthForms = typeof AUTH_FORMS & typeof SECOND_FORMS
type Posted = { [P in keyof AuthForms]: P extends `POST ${infer Path}` ? Path : never }[keyof AuthForms]
type Form<P extends Posted> = AuthForms[`POST ${P}`] extends z.ZodType ? z.input<AuthForms[`POST ${P}`]> : undefined

/** Posts one of the sign-in library's forms. */
export async function postAuth<P extends Posted>(
  path: P,
  ...[form]: Form<P> extends undefined ? [] : [form: Form<P>]
): Promise<unknown> {
  return send('POST', `/api/auth${path}`, form ?? {})
}
