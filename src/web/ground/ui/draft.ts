/** Forms: react-hook-form, checked with the room's own draft schema, so that the browser and the server refuse the same values. */
import { toNestErrors } from '@hookform/resolvers'
import { zodResolver } from '@hookform/resolvers/zod'
import type { SyntheticEvent } from 'react'
import { type DefaultValues, type FieldError, type FieldValues, type UseFormReturn, useForm } from 'react-hook-form'
import type { z } from 'zod'

/** A form over a schema's wire side. It submits the typed values, not the decoded ones: the server decodes. */
export function useDraft<In extends FieldValues>(schema: z.ZodType<unknown, In>, defaultValues: DefaultValues<In>) {
  return useForm<In, unknown, In>({ resolver: zodResolver(schema, undefined, { raw: true }), defaultValues })
}

type RequestForm<Values extends FieldValues, Request> = {
  schema: z.ZodType
  values: Values
  /** The request that the schema checks and the form submits. */
  requestOf: (values: Values) => Request
  /** The field that shows an error at a path of the request. Left out: the field named like the end of the path. */
  fieldOf?: (path: readonly PropertyKey[]) => string
}

/** A form whose fields are not those of its request. It submits the request. */
export function useRequestDraft<Values extends FieldValues, Request>(form: RequestForm<Values, Request>) {
  const { schema, values, requestOf, fieldOf = path => String(path.at(-1)) } = form
  return useForm<Values, unknown, Request>({
    defaultValues: values as DefaultValues<Values>,
    resolver: (typed, _, options) => {
      const request = requestOf(typed)
      const { error } = schema.safeParse(request)
      if (error === undefined) return { values: request, errors: {} }
      const errors: Record<string, FieldError> = {}
      for (const { path, message, code } of error.issues) errors[fieldOf(path)] ??= { type: code, message }
      return { values: {}, errors: toNestErrors(errors, options) }
    },
  })
}

/** The part of a form that its fields need, whichever request it submits. */
export type DraftFields<Values extends FieldValues> = Pick<UseFormReturn<Values>, 'register' | 'watch' | 'formState'>

/** The `onSubmit` of a form: shows errors at their fields, or calls `deed` with what the form submits. */
export function submits<Values extends FieldValues, Request>(
  form: UseFormReturn<Values, unknown, Request>,
  deed: (request: Request) => void,
) {
  return (event: SyntheticEvent) => void form.handleSubmit(deed)(event)
}

/** The options of `setValue` for a value that a person chose: it counts as a change and, once submitted, is checked again. */
export const chosenIn = ({ formState }: { formState: { isSubmitted: boolean } }) => ({
  shouldDirty: true,
  shouldValidate: formState.isSubmitted,
})

/** A blank field is sent as null. */
export const noneIfBlank = { setValueAs: (typed: unknown) => (typed === '' ? null : typed) }
