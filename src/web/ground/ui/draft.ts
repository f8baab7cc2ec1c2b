/** Forms: react-hook-form with the room's own draft schema, so that the browser and the server say no to the same things. */
import { zodResolver } from '@hookform/resolvers/zod'
import type { SyntheticEvent } from 'react'
import { type DefaultValues, type FieldValues, type UseFormReturn, useForm } from 'react-hook-form'
import type { z } from 'zod'

/** A form over a schema's wire side. What is submitted is what was typed, not what the schema decodes it to: the server does that. */
export function useDraft<In extends FieldValues>(schema: z.ZodType<unknown, In>, defaultValues: DefaultValues<In>) {
  return useForm<In, unknown, In>({ resolver: zodResolver(schema, undefined, { raw: true }), defaultValues })
}

/** The `onSubmit` of a form: validates, shows what is wrong at its fields, else does the deed with what was typed. */
export function submits<In extends FieldValues>(form: UseFormReturn<In, unknown, In>, deed: (typed: In) => void) {
  return (event: SyntheticEvent) => void form.handleSubmit(deed)(event)
}

/** An empty field says "none": null, not an empty text. */
export const noneIfBlank = { setValueAs: (typed: unknown) => (typed === '' ? null : typed) }
