// https://w3c.github.io/contact-picker/, which the types of browsers do not contain.
type ContactsManager = {
  select: (
    properties: ("name" | "tel")[],
    options: { multiple: boolean },
  ) => Promise<readonly { name?: readonly string[]; tel?: readonly string[] }[]>;
};

/** Number from the contacts of the device, with the name, which stays on the device. */
export type DeviceNumber = { name: string; phone: string };

const getManager = (): ContactsManager | undefined => (navigator as { contacts?: ContactsManager }).contacts;

export const canPickContacts = (): boolean => typeof getManager()?.select === "function";

/** Opens the device's picker, which the person confirms each time. Empty if they close it. */
export const pickContacts = async (): Promise<DeviceNumber[]> => {
  const picked = await getManager()
    ?.select(["name", "tel"], { multiple: true })
    .catch(() => []);
  return (picked ?? []).flatMap(({ name, tel }) =>
    (tel ?? []).map((phone) => ({ name: name?.[0] ?? "", phone: phone.trim() })),
  );
};
