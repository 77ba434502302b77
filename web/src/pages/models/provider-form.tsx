import '@mantine/core/styles/Drawer.css'
import type { ProviderView } from '@contract/console-models.ts'
import type { ProviderBody } from '@contract/models.ts'
import type { absentVersion } from '@contract/settings-version.ts'
import { Alert, Autocomplete, getDefaultZIndex, Stack, TextInput } from '@mantine/core'
import { type FormEvent, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { patchJson, putJson } from '../../api/client.ts'
import { ifMatch } from '../../ui/conflict/if-match.ts'
import { type SharedDraft, useSharedDraft } from '../../ui/conflict/use-shared-draft.tsx'
import { DialogButtons } from '../../ui/dialog-buttons.tsx'
import { useFieldErrors } from '../../ui/field-errors.ts'
import { Select } from '../../ui/select.tsx'
import { SidePanel } from '../../ui/side-panel.tsx'
import { ProviderFieldInput } from './provider-field-input.tsx'
import {
  describeFormat,
  emptyValues,
  formatDescriptions,
  isProviderId,
  missingFields,
  type ProviderField,
  type ProviderForm,
  type ProviderValues,
  toBody,
  toPatch,
} from './provider-fields.ts'
import { useCatalogueChange, useFreshEntry } from './use-catalogue.ts'

export const hostings = ['eu', 'us', 'global', 'local'] as const

interface FormProps {
  /** The provider to edit; undefined: a new one. */
  provider: ProviderView | undefined
  onClose: () => void
  onSaved: (id: string) => void
}

/** A form that adds a provider, or edits one that the operator has declared. */
export function ProviderFormDrawer({ opened, ...props }: FormProps & { opened: boolean }) {
  const { t } = useTranslation('models')
  const title = props.provider ? t('providerForm.editTitle', { id: props.provider.id }) : t('providerForm.addTitle')
  return (
    <SidePanel
      opened={opened}
      onClose={props.onClose}
      title={title}

      size="lg"
      // Above the drawer of a provider, whichever was opened first on this page.
      zIndex={getDefaultZIndex('modal') + 1}
    >
      {opened && <ProviderFormBody {...props} />}
    </SidePanel>
  )
}

function ProviderFormBody({ provider, onClose, onSaved }: FormProps) {
  const { t } = useTranslation('models')
  const form = useProviderForm(provider, onSaved)
  const { description, values, set, errors } = form
  return (
    <form onSubmit={form.submit} noValidate>
      <Stack>
        <Select
          label={t('providerForm.format')}
          data={formatDescriptions.map(({ format, label }) => ({ value: format, label }))}
          value={description.format}
          onChange={(format) => format && form.setFormat(format)}
          allowDeselect={false}
          disabled={provider !== undefined}
          comboboxProps={{ withinPortal: true }}
          data-autofocus
        />
        <TextInput
          label={t('providerForm.id')}
          description={t('providerForm.idText')}
          placeholder="my-host"
          value={values.id}
          onChange={(event) => set('id', event.currentTarget.value)}
          error={errors['id']}
          disabled={provider !== undefined}
          required
        />
        {description.fields.map((field) => (
          <ProviderFieldInput key={field.name} field={field} form={form} stored={form.stored} />
        ))}
        <Autocomplete
          label={t('providerForm.hosting')}
          description={t('providerForm.hostingText')}
          data={[...hostings]}
          value={values.hosting}
          onChange={(hosting) => set('hosting', hosting)}
          error={errors['hosting']}
          required={description.hostingRequired === true}
        />
        <ModelSourceSelect
          value={values.models}
          onChange={(models) => set('models', models)}
          error={errors['models']}
        />
        {errors['form'] && <Alert color="red">{errors['form']}</Alert>}
        <DialogButtons
          onCancel={onClose}
          submit={provider ? t('save') : t('providerForm.add')}
          loading={form.isSaving}
        />
      </Stack>
      {form.dialog}
    </form>
  )
}

function ModelSourceSelect(props: { value: string; onChange: (value: string) => void; error: string | undefined }) {
  const { t } = useTranslation('models')
  const sources = ['snapshot', 'discovered', 'declared'] as const
  return (
    <Select
      label={t('providerForm.models')}
      description={t('providerForm.modelsText')}
      placeholder={t('providerForm.modelsDefault')}
      data={sources.map((value) => ({ value, label: t(`modelSource.${value}`) }))}
      value={props.value === '' ? null : props.value}
      onChange={(value) => props.onChange(value ?? '')}
      error={props.error}
      clearable
    />
  )
}

function useProviderForm(provider: ProviderView | undefined, onSaved: (id: string) => void) {
  const { t } = useTranslation('models')
  const [description, setDescription] = useState(() => describeFormat(provider?.format ?? '') ?? formatDescriptions[0]!)
  const { errors, check, show } = useFieldErrors(
    ['id', 'hosting', 'models', ...description.fields.map(({ name }) => name)],
    { other: 'form' },
  )
  const stored = storedSecrets(provider)
  const loadFresh = useFreshEntry()
  const shared: SharedDraft<Stored, ProviderValues> = useSharedDraft({
    view: provider ?? newProvider,
    isNew: provider === undefined,
    draftOf: valuesOf,
    load: (): Promise<Stored> => loadFresh<ProviderBody>(addressOf(shared.draft)),
    send: (wanted, base) => {
      const form = { description, values: wanted, stored }
      if (!provider) return putJson(addressOf(wanted), { format: description.format, ...toBody(form) }, ifMatch(base))
      const patch = toPatch(form, valuesOf(base))
      return Object.keys(patch).length === 0 ? undefined : patchJson(addressOf(wanted), patch, ifMatch(base))
    },
    labelOf: (field) =>
      t(field in ownLabels ? ownLabels[field as keyof typeof ownLabels] : `field.${field as FieldName}`),
    secrets: { apiKey: ({ apiKeyLastFour }) => apiKeyLastFour ?? '', credentials: () => undefined },
  })
  const values = shared.draft
  const form: ProviderForm = { description, values, stored }
  const save = useCatalogueChange(
    () => shared.save(),
    () => t('providerForm.saved', { id: values.id.trim() }),
    { hasErrorPlace: true },
  )
  const submit = (event?: FormEvent) => {
    event?.preventDefault()
    const missing = Object.fromEntries(missingFields(form).map((name) => [name, t('required')]))
    const id = isProviderId(values.id) ? undefined : t('providerForm.idWrong')
    if (!check({ id, ...missing })) return
    save.mutate(undefined, {
      onSuccess: (isSaved) => isSaved && onSaved(values.id.trim()),
      onError: show,
    })
  }
  return {
    description,
    values,
    errors,
    stored,
    isSaving: save.isPending,
    set: (name: keyof ProviderValues, value: string) => shared.set({ [name]: value }),
    setFormat: (format: string) => setDescription(describeFormat(format) ?? description),
    submit,
    dialog: shared.dialog(submit),
  }
}

/** What the form knows of a stored provider; a new one has a version only. */
type Stored = Partial<ProviderBody> & { version: string }
type FieldName = ProviderField['name']

const absent: typeof absentVersion = 'RBNvo1WzZ4oRRq0W9-hknp'
export const newProvider: Stored = { version: absent }
const addressOf = ({ id }: ProviderValues) => `/api/providers/${encodeURIComponent(id.trim())}`
const ownLabels = {
  id: 'providerForm.id',
  hosting: 'providerForm.hosting',
  models: 'providerForm.models',
} as const

function storedSecrets(provider: ProviderView | undefined): ReadonlySet<string> {
  return new Set([
    ...(provider?.apiKeyLastFour ? ['apiKey'] : []),
    ...(provider?.hasCredentials ? ['credentials'] : []),
  ])
}

function valuesOf(provider: Stored): ProviderValues {
  const { id = '', flavour = '', baseUrl = '', region = '', project = '', apiVersion = '', hosting = '' } = provider
  return { ...emptyValues, id, flavour, baseUrl, region, project, apiVersion, hosting, models: provider.models ?? '' }
}
