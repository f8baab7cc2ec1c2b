/** What may be sent to the sign-in library, path by path. Its fields are its own (camelCase). */
import { z } from 'zod'
import { Name } from '../contract/fields.ts'

export const PASSWORD_MIN = 10
export const PASSWORD_MAX = 128

export const Email = z.string().trim().max(254).pipe(z.email())
export const NewPassword = z.string().min(PASSWORD_MIN).max(PASSWORD_MAX)
const Password = z.string().min(1).max(PASSWORD_MAX)
const Picture = z
  .string()
  .max(100_000)
  .regex(/^data:image\/(png|jpeg|webp);base64,[A-Za-z0-9+/]+=*$/, {
    message: 'must be a small PNG, JPEG or WebP image',
  })

/**
 * `POST /api/auth/sign-up/email`; `invitation` is the id in the invitation's link and makes the person a member at once. Answers
 * `{ user }` and signs in; 403 `sign_up_closed`, 409 `invitation_invalid`, 409 `already_exists`.
 */
export const SignUp = z.object({
  name: Name(),
  email: Email,
  password: NewPassword,
  invitation: z.string().max(64).optional(),
})
/** `POST /api/auth/sign-in/email`. Answers `{ user }` and sets the session's cookie; 401 `INVALID_EMAIL_OR_PASSWORD`. */
export const SignIn = z.object({ email: Email, password: Password, rememberMe: z.boolean().optional() })
/** `POST /api/auth/change-password`. Ends every other session; 400 `INVALID_PASSWORD`. */
export const PasswordChange = z.object({ currentPassword: Password, newPassword: NewPassword })
/** `POST /api/auth/change-email`. Needs the current password unless the session is young; 400 `INVALID_PASSWORD`. */
export const EmailChange = z.object({ newEmail: Email, currentPassword: Password.optional() })
/** `POST /api/auth/update-user`: the name, the picture (a data URL, or null to remove it). */
export const Profile = z.object({ name: Name().optional(), image: Picture.nullable().optional() })
/** `POST /api/auth/request-password-reset`. Always answers 200, whether the address is known or not. */
export const PasswordResetRequest = z.object({ email: Email })
/** `POST /api/auth/reset-password`; the token is the one in the mail's link, `/reset-password?token=…`. Ends every session. */
export const PasswordReset = z.object({ token: z.string().min(1).max(200), newPassword: NewPassword })

/** `POST /api/auth/revoke-session`; the token is the one `list-sessions` showed, which is the session's id. */
export const SessionEnd = z.object({ token: z.string().min(1).max(64) })

/** The paths below `/api/auth` and what may be sent to each. `get-session` answers `{ session, user }` or null. */
export const AUTH_FORMS = {
  'GET /get-session': undefined,
  'POST /sign-up/email': SignUp,
  'POST /sign-in/email': SignIn,
  'POST /sign-out': undefined,
  'POST /change-password': PasswordChange,
  'POST /change-email': EmailChange,
  'POST /update-user': Profile,
  'GET /list-sessions': undefined,
  'POST /revoke-session': SessionEnd,
  'POST /revoke-other-sessions': undefined,
  'POST /request-password-reset': PasswordResetRequest,
  'POST /reset-password': PasswordReset,
} as const satisfies Record<string, z.ZodType | undefined>
