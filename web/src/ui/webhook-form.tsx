import { Alert, Button, Group, TextInput } from '@mantine/core'
import { type QueryKey, useMutation, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { deleteJson, putJson } from '../api/client.ts'
import { openConfirm } from './confirm.tsx'
import { CopyField } from './copy-field.tsx'
import { useFieldErrors } from './field-errors.ts'
import { notifyError, notifySuccess } from './notify.ts'

interface WebhookFormProps {
  /** Of the API: PUT sets the address and answers with the secret, DELETE removes it. */
  path: string
  /** The address that is set. */
  url: string | null
  /** The queries that a change makes stale. */
  queryKey: QueryKey
  texts: Record<
    'url' | 'set' | 'replace' | 'remove' | 'removeTitle' | 'removeText' | 'removed' | 'secretTitle' | 'secret',
    string
  >
}

/** The address of a webhook. Its signing secret is shown once, after the address was set. */
export function WebhookForm({ path, url, queryKey, texts }: WebhookFormProps) {
  const queryClient = useQueryClient()
  const { errors, attempt } = useFieldErrors(['url'])
  const [address, setAddress] = useState(url ?? '')
  const [secret, setSecret] = useState<string>()
  const reload = () => queryClient.invalidateQueries({ queryKey })
  const save = useMutation({
    mutationFn: () => putJson<{ secret: string }>(path, { url: address }),
    onSuccess(made) {
      setSecret(made.secret)
      return reload()
    },
  })
  const remove = useMutation({
    mutationFn: () => deleteJson(path),
    async onSuccess() {
      setAddress('')
      setSecret(undefined)
      await reload()
      notifySuccess(texts.removed)
    },
    onError: notifyError,
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    void attempt(() => save.mutateAsync())
  }
  const confirmRemove = () =>
    openConfirm({
      title: texts.removeTitle,
      text: texts.removeText,
      confirm: texts.remove,
      onConfirm: () => remove.mutate(),
    })
  return (
    <>
      <form onSubmit={submit} noValidate>
        <Group align="flex-end" gap="xs">
          <TextInput
            type="url"
            label={texts.url}
            placeholder="https://"
            value={address}
            onChange={(event) => setAddress(event.currentTarget.value)}
            error={errors['url']}
            style={{ flex: '1 1 260px' }}
          />
          <Button type="submit" variant="default" loading={save.isPending} disabled={address === ''}>
            {url === null ? texts.set : texts.replace}
          </Button>
          {url !== null && (
            <Button variant="subtle" color="red" onClick={confirmRemove} loading={remove.isPending}>
              {texts.remove}
            </Button>
          )}
        </Group>
      </form>
      {secret !== undefined && (
        <Alert title={texts.secretTitle} color="portico" variant="light">
          <CopyField label={texts.secret} value={secret} />
        </Alert>
      )}
    </>
  )
}
