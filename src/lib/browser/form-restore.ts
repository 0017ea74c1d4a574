/**
 * Saved input of an unsent form, for phones that discard the page while a picture is being chosen. Stored per tab,
 * never with a password.
 */
const restoredFields = { register: ["displayName", "phoneNumber"], login: ["phoneNumber"] } as const;
export type RestorableForm = keyof typeof restoredFields;

const toStorageKey = (name: RestorableForm): string => `typed-${name}`;

const findInput = (form: HTMLFormElement, field: string) => form.querySelector<HTMLInputElement>(`#${field}`);

export const saveFormInput = (name: RestorableForm, form: HTMLFormElement): void => {
  const typed = new URLSearchParams(restoredFields[name].map((field) => [field, findInput(form, field)?.value ?? ""]));
  try {
    sessionStorage.setItem(toStorageKey(name), `${typed}`);
  } catch {
    // Storage is full or forbidden: the input lasts as long as the page.
  }
};

/**
 * Inline script that runs before the first paint and saves input typed before the app script loads. An empty field that
 * is not restored yet does not overwrite its saved text.
 */
export const buildFormSaveScript = (name: RestorableForm): string => {
  const key = `sessionStorage["${toStorageKey(name)}"]`;
  return (
    `addEventListener("input",()=>{try{const t=new URLSearchParams(${key}||"");` +
    `for(const f of ${JSON.stringify(restoredFields[name])}){const v=document.getElementById(f).value;v&&t.set(f,v)}` +
    `${key}=t}catch{}});`
  );
};

/** Restores saved input; text typed in the meantime is kept. */
export const restoreFormInput = (name: RestorableForm, form: HTMLFormElement): void => {
  try {
    const typed = new URLSearchParams(sessionStorage.getItem(toStorageKey(name)) ?? "");
    for (const field of restoredFields[name]) {
      const input = findInput(form, field);
      if (input) input.value ||= typed.get(field) ?? "";
    }
  } catch {
    // Storage is forbidden: nothing is saved.
  }
};

/** Deletes saved input, called once somebody is signed in. */
export const clearFormInput = (): void => {
  try {
    for (const name of ["register", "login"] as const) sessionStorage.removeItem(toStorageKey(name));
  } catch {
    // Storage is forbidden: nothing is saved.
  }
};
